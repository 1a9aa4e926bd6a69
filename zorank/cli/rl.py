"""zorank rl: a policy from ranked episodes, and clips of what was learned."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from zorank import optimizers
from zorank.cli.common import log, out, read_values
from zorank.errors import InvalidInput, ZorankError

if TYPE_CHECKING:
    from zorank.learning import Learning

EPISODES = 500
LOOKS = 20
"""How often the reward is looked at on the way."""


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
        int | None, typer.Option(min=1, help="How many questions; else about 500 episodes.")
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
    independent: Annotated[
        bool,
        typer.Option("--independent", help="Every episode of a question from a reset of its own."),
    ] = False,
    steps: Annotated[
        int | None, typer.Option(min=1, help="Steps of an episode; else the environment's.")
    ] = None,
    paper: Annotated[
        bool,
        typer.Option(
            "--paper", help="As in the paper: ZO-RankSGD, 5 episodes, bias, raw, independent."
        ),
    ] = False,
    save: Annotated[
        Path | None, typer.Option("--out", help="Where the result goes; else policy-ENV.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=0.2, help="Length of the clip.")] = 10.0,
    no_video: Annotated[bool, typer.Option("--no-video", help="Film nothing.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
) -> None:
    """Learn a policy from the order of its episodes alone; or look at one again.

    The reward is shown for you to see, on resets that nothing is learned from; the optimizer is
    only told which episode was better. OUT gets policy.json, curve.csv, curve.png, clip.mp4 and
    run.db. Ctrl-C loses nothing: the same command goes on, and with more --rounds it goes further.

    Examples: zorank rl Swimmer-v4 --out swimmer; zorank rl replay swimmer
    """
    if env == "replay":
        _replay(file, save, seconds, no_video)
        return
    if file is not None:
        raise InvalidInput(f"only replay takes a second word, found {str(file)!r}")
    from zorank.learning import PAPER, Learning, recipe
    from zorank.problems.policies import PolicyProblem

    problem = PolicyProblem(
        env,
        hidden=tuple(hidden or ()),
        bias=bias or paper,
        normalise=not (raw or paper),
        shared=not (independent or paper),
        horizon=steps,
    )
    known, settings = PAPER if paper else recipe(env)
    settings = settings if method in (None, known) else {}
    given = {name: value for name, value in (("m", m), ("k", k)) if value is not None}
    optimizer = optimizers.make(
        method or known, {**settings, **given, **read_values(option or [])}
    )
    folder = save or Path(f"policy-{env}")
    _make_folder(folder)
    learning = Learning(problem, optimizer, seed, f"sqlite:///{folder / 'run.db'}", "policy")
    wanted = rounds or math.ceil(EPISODES / len(learning.run.ask()))
    curve = _learn(learning, wanted, quiet)
    _keep(
        learning, curve, folder, seconds, no_video, title=f"{env}, {learning.run.record.optimizer}"
    )


def _learn(learning: Learning, rounds: int, quiet: bool) -> list[dict[str, Any]]:
    """Go on up to so many rounds; a row of the curve for each look at the reward."""
    done = len(learning.run.history)
    every = max(1, rounds // LOOKS)
    curve: list[dict[str, Any]] = []

    def look() -> float:
        found = learning.reward()
        curve.append(
            {"round": len(learning.run.history), "episodes": learning.episodes, "reward": found}
        )
        return found

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    shown = [TextColumn(one) if isinstance(one, str) else one for one in columns]
    with Progress(*shown, console=log, disable=quiet or not log.is_terminal) as bar:
        task = bar.add_task(f"reward {look():,.1f}", total=rounds, completed=done)
        try:
            for index in range(done, rounds):
                learning.step()
                if (index + 1) % every == 0 or index + 1 == rounds:
                    bar.update(task, description=f"reward {look():,.1f}")
                bar.advance(task)
        except KeyboardInterrupt:
            log.print(f"stopped by you after {len(learning.run.history)} rounds; all is kept")
    return curve


def _keep(
    learning: Learning,
    curve: list[dict[str, Any]],
    folder: Path,
    seconds: float,
    no_video: bool,
    title: str,
) -> None:
    before = _read_curve(folder / "curve.csv")
    rows = sorted({row["round"]: row for row in [*before, *curve]}.values(), key=_by_round)
    with (folder / "curve.csv").open("w", newline="") as stream:
        table = csv.DictWriter(stream, ["round", "episodes", "reward"])
        table.writeheader()
        table.writerows(rows)
    reward, policy = curve[-1]["reward"], learning.policy()
    policy.save(folder, episodes=learning.episodes, reward=reward)
    from zorank.plots import plot_learning

    plot_learning(rows, folder / "curve.png", title)
    out.print(
        Text(
            f"reward {reward:,.1f} on held-out resets after {learning.episodes} ranked episodes "
            f"({rows[0]['reward']:,.1f} at the start)\nkept in {folder}"
        )
    )
    if not no_video:
        _film(folder, folder / "clip.mp4", seconds)


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
        shown, rate = film.frames(policy.problem.env, policy, HELD_OUT, seconds, 360, 480)
        clip.write_bytes(film.encoded(shown, rate))
    except (ZorankError, OSError) as error:
        log.print(f"no clip: {error}", style="yellow", markup=False, highlight=False)
        return
    out.print(Text(f"filmed {len(shown) / rate:.1f} s: {clip}"))


def _read_curve(file: Path) -> list[dict[str, Any]]:
    if not file.exists():
        return []
    with file.open(newline="") as stream:
        return [
            {
                "round": int(row["round"]),
                "episodes": int(row["episodes"]),
                "reward": float(row["reward"]),
            }
            for row in csv.DictReader(stream)
        ]


def _by_round(row: dict[str, Any]) -> int:
    return int(row["round"])


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"the folder {folder} cannot be made: {error}") from error
