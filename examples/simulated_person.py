"""A person, simulated, who ranks landscapes through the studio's HTTP interface alone.

    python examples/simulated_person.py                # starts a studio of its own, one seed
    python examples/simulated_person.py --seeds 10     # the median over ten seeds

They like a snowy night with a large moon over a lake, with tastes of their own and a noisy eye, and
look at six pictures a round for twenty rounds. They see pictures; to know what is in one, this
script recognises it by asking the renderer for its attributes, as a person would by looking.
"""




LIKES = {"night": 1.0, "snow": 1.0, "moon": 0.8, "large disc": 0.8, "lake": 1.0}
ROUNDS, SHOWN, NOISE = 20, 6, 0.1
