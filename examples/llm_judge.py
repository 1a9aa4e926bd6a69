"""A language model as the judge: it orders texts, four at a time.

python examples/llm_judge.py
"""

from zorank import rank_items

TEXTS = [
    "Our product leverages synergies to unlock value across the whole enterprise.",
    "It saves you an hour a day.",
    "We are excited to announce that we are very excited about our new product.",
    "It sorts your mail while you sleep, and you can undo everything.",
    "A next-generation, AI-powered, cloud-native, best-in-class solution.",
    "You can try it without an account.",
    "Kindly be informed that the functionality has been made available by us.",
]


def ask_model(prompt: str, texts: list[str]) -> str:
    """Send the prompt to your model here and return its reply, such as "2, 1, 3".

    This stand-in needs no network: it ignores the prompt and prefers short words.
    """
    scores = [sum(map(len, text.split())) / len(text.split()) for text in texts]
    return ", ".join(str(1 + i) for i in sorted(range(len(texts)), key=scores.__getitem__))


def judge(texts: list[str]) -> list[int]:
    """Return the positions of the texts, best first."""
    listed = "\n".join(f"{i + 1}. {text}" for i, text in enumerate(texts))
    reply = ask_model(f"Which is clearest? Reply with the numbers, best first.\n{listed}", texts)
    return [int(number) - 1 for number in reply.split(",")]


if __name__ == "__main__":
    found = rank_items(TEXTS, judge, m=4)
    for place, i in enumerate(found.order, start=1):
        print(f"{place}. {found.scores[i]:+.1f} ± {found.sd[i]:.1f}  {TEXTS[i]}")
