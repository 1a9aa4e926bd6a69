"""zorank rl: a policy from ranked episodes, and clips of what was learned."""

from __future__ import annotations

import csv
from math import isfinite
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from zorank import optimizers
from zorank.cli.common import log, out, read_values
from zorank.errors import InvalidInput, ReplayError, StaleAnswer, ZorankError

if TYPE_CHECKING:
    from zorank.learning import Learning
    from zorank.problems.policies import PolicyProblem

RUN = "policy"
"""The run's name in its store."""
EPISODES = 500
"""Whole ones; where only their beginning is ranked, as many as have the same steps."""
LOOKS = 20
"""How often the reward is looked at on the way."""
LONGEST_UNSEEN = 30.0
"""Seconds after which it is looked at in any case."""


def rl(
    env: Annotated[
        str,
        typer.Argument(help="A Gymnasium environment, such as Swimmer-v4; or replay."),
    ],
    file: Annotated[
        Path | None, typer.Argument(help="With replay: the folder that was learned into.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(help=f"One of: {', '.join(optimizers.REGISTRY)}; else the best one known."),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(min=1, help="How many questions; else what takes the steps of 500 episodes."),
    ] = None,
    m: Annotated[int | None, typer.Option("--m", help="Episodes of a question.")] = None,
    k: Annotated[int | None, typer.Option("--k", help="How many of them are ranked.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(help="A setting of the method, name=value; may be given several times."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same run.")] = 0,
    hidden: Annotated[
        list[int] | None,
        typer.Option(min=1, help="The width of a hidden layer; none is a linear policy."),
    ] = None,
    bias: Annotated[bool, typer.Option("--bias", help="Layers with a constant.")] = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Observations as they are, not normalised.")
    ] = False,
    unclipped: Annotated[
        bool,
        typer.Option("--unclipped", help="Actions beyond the box; MuJoCo charges for them."),
    ] = False,
    independent: Annotated[
        bool,
        typer.Option("--independent", help="Every episode of a question from a reset of its own."),
    ] = False,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Steps of an episode; else the environment's.")
    ] = None,
    ranked_steps: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="How many first steps are simulated to rank an episode: 0 is all; else what is "
            "known to tell enough. The reward is always that of whole episodes.",
        ),
    ] = None,
    paper: Annotated[
        bool,
        typer.Option(
            "--paper",
            help="As in the paper: ZO-RankSGD, 5 episodes, bias, raw, unclipped, independent.",
        ),
    ] = False,
    save: Annotated[
        Path | None, typer.Option("--out", help="Where the result goes; else policy-ENV.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=0.2, max=600, help="Length of the clip.")] = 10.0,
    no_video: Annotated[bool, typer.Option("--no-video", help="Film nothing.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
) -> None:
    """Learn a policy from the order of its episodes alone; or look at one again.

    The reward is shown for you to see, on resets that nothing is learned from; the optimizer is
    only told which episode was better (zo-sgd, for comparison, sees rewards). OUT gets
    policy.json, curve.csv, curve.png, clip.mp4 and run.db. Ctrl-C loses nothing: the same command
    goes on, and with more --rounds it goes further.

    Examples: zorank rl Swimmer-v4 --out swimmer; zorank rl replay swimmer
    """
    if env == "replay":
        _replay(file, save, seconds, no_video)
        return
    if file is not None:
        raise InvalidInput(f"only replay takes a second word, found {str(file)!r}")
    from zorank.learning import PAPER, Learning, enough_to_rank, fitted, recipe
    from zorank.problems.policies import PolicyProblem

    folder = save or Path(f"policy-{env}")
    begun = _begun(folder)
    if begun is not None and ranked_steps is None:
        ranked_steps = begun.ranked_steps
    elif ranked_steps is None and not paper:
        ranked_steps = enough_to_rank(env)
    problem = PolicyProblem(
        env,
        hidden=tuple(hidden or ()),
        bias=bias or paper,
        normalise=not (raw or paper),
        shared=not (independent or paper),
        horizon=steps,
        clip=not (unclipped or paper),
        ranked_steps=ranked_steps or None,
    )
    _ = problem.dim  # an environment that is not there must not leave a folder behind
    given = {name: value for name, value in (("m", m), ("k", k)) if value is not None}
    given |= read_values(option or [])
    known, settings = (
        (PAPER[0], fitted(PAPER[1], given.get("m"))) if paper else recipe(env, given.get("m"))
    )
    usual = settings if method in (None, known) else {}
    optimizer = optimizers.make(method or known, {**usual, **given})
    _make_folder(folder, begun is not None)
    try:
        learning = Learning(problem, optimizer, seed, str(folder / "run.db"), RUN)
    except ReplayError as error:
        raise ReplayError(
            f"{folder} holds what was learned otherwise: {error}. Another --out leaves it alone"
        ) from error
    before = learning.episodes
    try:
        stopped = _learn(learning, rounds, folder, quiet)
    except StaleAnswer as error:
        raise StaleAnswer(
            f"another process is learning in {folder}; let one of them finish ({error})"
        ) from error
    except OSError as error:
        raise InvalidInput(
            f"{folder} cannot be written to ({error}); what was learned is in its run.db"
        ) from error
    if learning.episodes == before and not stopped:
        log.print("nothing was left to learn; more --rounds go on from here")
    _tell(learning, folder, title=f"{env}, {learning.run.record.optimizer}")
    if not no_video:
        _film(folder, folder / "clip.mp4", seconds)


def _learn(learning: Learning, rounds: int | None, folder: Path, quiet: bool) -> bool:
    """Go on up to so many rounds, or else episodes, and keep what there is on the way.

    Returns whether somebody stopped it.
    """

    def done() -> int:
        return len(learning.run.history) if rounds else learning.episodes

    total = rounds or round(EPISODES / learning.problem.ranked_share)
    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    shown = [TextColumn(one) if isinstance(one, str) else one for one in columns]
    with Progress(*shown, console=log, disable=quiet or not log.is_terminal) as bar:
        task = bar.add_task("reward", total=total)
        looked_at, looked_when = -1.0, 0.0
        try:
            while True:
                share = min(done(), total) / total
                bar.update(task, completed=min(done(), total))
                since = share - looked_at, monotonic() - looked_when
                if since[0] >= 1 / LOOKS or since[1] >= LONGEST_UNSEEN or share == 1:
                    bar.update(task, description=f"reward {_look(learning, folder):,.1f}")
                    looked_at, looked_when = share, monotonic()
                if share == 1:
                    return False
                learning.step()
        except KeyboardInterrupt:
            bar.stop()
            log.print(
                f"stopped by you after {learning.episodes} episodes; all is kept, and what there "
                "is by now is looked at"
            )
            _look(learning, folder)
            return True


def _look(learning: Learning, folder: Path) -> float:
    """The reward of the present policy, which is kept with it."""
    reward = learning.reward()
    told = reward if isfinite(reward) else None
    learning.policy().save(folder, episodes=learning.episodes, reward=told)
    return reward


def _tell(learning: Learning, folder: Path, title: str) -> None:
    from zorank.cli.plots import plot_learning

    rows = learning.curve()
    how = "rewarded" if learning.run.ask().question == "values" else "ranked"
    try:
        with (folder / "curve.csv").open("w", newline="") as stream:
            table = csv.DictWriter(stream, ["round", "episodes", "reward"])
            table.writeheader()
            table.writerows(rows)
        plot_learning(rows, folder / "curve.png", title)
    except OSError as error:
        raise InvalidInput(f"the curve cannot be written: {error}") from error
    steps = learning.problem.ranked_steps
    first = "step" if steps == 1 else f"{steps} steps"
    cut = f", each by its first {first}" if learning.problem.ranked_share < 1 else ""
    out.print(
        Text(
            f"reward {rows[-1]['reward']:,.1f} on held-out resets after {learning.episodes:,} "
            f"{how} episodes{cut} ({rows[0]['reward']:,.1f} at the start)\nkept in {folder}"
        )
    )


def _replay(folder: Path | None, save: Path | None, seconds: float, no_video: bool) -> None:
    from zorank.problems.policies import load_policy

    if folder is None:
        raise InvalidInput("say what to replay: zorank rl replay FOLDER")
    policy = load_policy(folder)
    reward = policy.problem.reward(policy.parameters, policy.seen)
    out.print(Text(f"{policy.problem.env}: reward {reward:,.1f} on held-out resets"))
    if not no_video:
        place = folder if folder.is_dir() else folder.parent
        _film(folder, save or place / "clip.mp4", seconds)


def _film(folder: Path, clip: Path, seconds: float) -> None:
    """A clip of what was learned; without one, the policy is still there."""
    from zorank.problems.policies import load_policy
    from zorank.problems.policies.problem import HELD_OUT
    from zorank.renderers.policy import film

    policy = load_policy(folder)
    try:
        shown, rate = film.frames(
            *(policy.problem.env, policy, HELD_OUT, seconds, 360, 480),
            most=policy.problem.horizon,
        )
        clip.write_bytes(film.encoded(shown, rate))
    except (ZorankError, OSError) as error:
        log.print(f"no clip: {error}", style="yellow", markup=False, highlight=False)
        return
    out.print(Text(f"filmed {len(shown) / rate:.1f} s: {clip}"))


def _begun(folder: Path) -> PolicyProblem | None:
    """What is being learned in a folder, if anything is."""
    from zorank.problems.policies import PolicyProblem
    from zorank.stores import open_store

    if not (folder / "run.db").is_file():
        return None
    records = {one.name: one for one in open_store(str(folder / "run.db")).runs()}
    note = records[RUN].meta.get("policy") if RUN in records else None
    return None if note is None else PolicyProblem.from_note(note)


def _make_folder(folder: Path, begun: bool) -> None:
    if (folder / "policy.json").exists() and not begun:
        raise InvalidInput(
            f"{folder} holds a policy that was not learned there; give --out another folder"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"the folder {folder} cannot be made: {error}") from error
