"""The command line as a user types it: real processes, real files."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from tests.helpers import fork_server
from zorank import Run, __version__
from zorank.stores import open_store


def test_minimise_print_save_and_plot(zorank, tmp_path):
    code, out, _ = zorank(
        *("minimize", "zorank.problems:sphere", "--dim", 5, "--points", 600),
        *("--out", "result.json", "--plot", "progress.png", "--option", "sigma0=0.5"),
    )
    assert code == 0
    assert "stopped at the limit of 600 points" in out
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["fun"] == pytest.approx(np.square(result["x"]).sum())
    assert result["fun"] < 1e-2
    assert len(result["history"]) == result["rounds"]
    assert (tmp_path / "progress.png").read_bytes().startswith(b"\x89PNG")


def test_a_long_result_is_never_lost(zorank, tmp_path):
    code, out, _ = zorank("minimize", "zorank.problems:sphere", "--dim", 50, "--points", 30)
    assert code == 0
    assert "zorank-result.json" in out
    assert len(json.loads((tmp_path / "zorank-result.json").read_text())["x"]) == 50


@pytest.mark.parametrize("suffix", [".npy", ".json", ".csv", ".txt"])
def test_a_function_of_ones_own_from_a_start_in_a_file(zorank, tmp_path, suffix):
    (tmp_path / "mine.py").write_text("def f(x):\n    return -abs(x - 3).sum()\n")
    file = tmp_path / f"start{suffix}"
    if suffix == ".npy":
        np.save(file, [1.0, 2.0])
    else:
        file.write_text({".json": "[1, 2]", ".csv": "1,2", ".txt": "1 2"}[suffix])
    code, _, err = zorank(
        *("minimize", "mine:f", "--x0", file, "--maximize", "--points", 900, "--bounds", "0,5"),
        *("--out", "r.json"),
    )
    assert code == 0, err
    assert json.loads((tmp_path / "r.json").read_text())["x"] == pytest.approx([3, 3], abs=0.2)


def test_a_vectorized_function_gets_all_candidates_at_once(zorank, tmp_path):
    (tmp_path / "mine.py").write_text("def f(x):\n    return (x**2).sum(axis=1)\n")
    line = ("--dim", 3, "--points", 100, "--seed", 4)
    code, out, err = zorank("minimize", "mine:f", "--vectorized", *line)
    assert code == 0, err
    assert out == zorank("minimize", "zorank.problems:sphere", *line)[1]


def test_a_named_run_is_kept_shown_exported_continued_and_deleted(zorank):
    start = ("minimize", "zorank.problems:sphere", "--dim", 4, "--name", "ball")
    assert zorank(*start, "--points", 60)[0] == 0
    assert zorank(*start, "--points", 120)[0] == 0
    code, out, _ = zorank("runs", "list")
    assert code == 0
    assert "ball" in out
    assert "auto" in out
    code, out, _ = zorank("runs", "show", "ball")
    assert code == 0
    assert "12 rounds answered" in out
    assert "114" in out
    code, out, _ = zorank("runs", "export", "ball")
    assert len([r for r in json.loads(out)["rounds"] if r["answer"]]) == 12
    code, _, err = zorank(*start, "--seed", 3)
    assert code == 2
    assert "another configuration" in err
    code, _, _ = zorank("runs", "delete", "ball", input="n\n")
    assert code == 1
    assert zorank("runs", "delete", "ball", "--yes")[0] == 0
    assert "no runs yet" in zorank("runs", "list")[1]


def test_a_rater_is_exported_and_forgotten(zorank, tmp_path):
    url = f"sqlite:///{tmp_path}/people.db"
    run = Run("zo-ranksgd", np.ones(3), 1, url, "faces", record_slates=True)
    for rater in ("Ann", "Bob", "Ann"):
        run.ask()
        run.tell([0], rater=rater)
    here = ("faces", "Ann", "--store", url)
    code, out, _ = zorank("runs", "export-rater", *here)
    assert code == 0
    assert [one["index"] for one in json.loads(out)["answers"]] == [0, 2]
    assert zorank("runs", "export-rater", *here, "--out", str(tmp_path / "ann.json"))[0] == 0
    assert json.loads((tmp_path / "ann.json").read_text()) == json.loads(out)
    assert zorank("runs", "forget-rater", *here, input="n\n")[0] != 0
    code, out, _ = zorank("runs", "forget-rater", *here, "--yes")
    assert (code, "Ann is rater 1 now" in out) == (0, True)
    again = ("faces", "rater 1", "--store", url, "--remove")
    code, out, _ = zorank("runs", "forget-rater", *again, input="y\n")
    assert "Remove 2 answers of rater 1 in faces" in out
    assert "removed 2 answers; no difference in rounds 0, 2" in out
    assert zorank("runs", "show", "faces", "--store", url)[0] == 0


def test_a_name_with_markup_is_shown_as_it_is(zorank):
    name = "x[/y] [red]z"
    start = ("minimize", "zorank.problems:sphere", "--dim", 4, "--points", 30, "--name", name)
    assert zorank(*start)[0] == 0
    for command in ("list", "show", "export"):
        code, out, _ = zorank("runs", command, *([] if command == "list" else [name]))
        assert code == 0
        assert name in out
    assert zorank("runs", "delete", name, "--yes")[0] == 0


def test_the_plan_recommends(zorank):
    code, out, _ = zorank("plan", "--dim", 576)
    assert code == 0
    assert "Recommended: show" in out
    code, out, _ = zorank("plan", "--dim", 576, "--rank", 1, "--largest", 6)
    assert "have the best 1 ranked" in out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("minimize zorank.problems:spere --dim 3", "has no 'spere'"),
        ("minimize nowhere:f --dim 3", "module 'nowhere'"),
        ("minimize sphere --dim 3", "module:function"),
        ("minimize ./mine.py:quad --dim 3", "such as mine:quad"),
        ("minimize zorank.problems:sphere", "--dim N or as --x0 FILE"),
        ("minimize zorank.problems:sphere --dim 0", "at least 1"),
        ("minimize zorank.problems:sphere --dim 99999999999999", "choose a smaller dimension"),
        ("minimize zorank.problems:sphere --dim 3 --m 1000000", "from 2 to 100000"),
        ("minimize leaves:f --dim 3", "cannot be imported (SystemExit"),
        ("minimize zorank.problems:sphere --x0 deep.json", "cannot be read"),
        (
            "studio --renderer os:system",
            "os:system is not a renderer: it cannot be called without",
        ),
        ("studio --renderer os:getpid", "os:getpid is not a renderer"),
        ("studio --renderer factory:leave", "factory:leave cannot be made (SystemExit"),
        ("studio --host not-an-address.invalid", "choose another --host"),
        ("studio --host 192.0.2.1", "choose another --host"),
        ("studio --host .", "choose another --host"),
        ("studio --port 99999999", "choose another --port"),
        ("plan --dim 9 --largest 100000", "at most"),
        ("minimize zorank.problems:sphere --x0 none.npy", "cannot be read"),
        ("minimize zorank.problems:sphere --dim 3 --method zoo", "no optimizer"),
        ("minimize zorank.problems:sphere --dim 3 --option m", "name=value"),
        ("minimize zorank.problems:sphere --dim 3 --bounds 1", "low,high"),
        ("minimize zorank.problems:sphere --dim 3 --out /dev/null/x", "written"),
        ("minimize zorank.problems:sphere --dim 3 --plot no/x.png", "not a folder"),
        ("minimize zorank.problems:sphere --dim 3 --out .", "written"),
        ("minimize zorank.problems:sphere --dim 3 --plot x.zzz", "no supported"),
        ("minimize broken:f --dim 3", "cannot be imported (SyntaxError"),
        ("runs show nothing", "no run named 'nothing'"),
        ("runs list --store what://ever", "cannot be opened"),
        ("runs list --store typo.db", "there is no store at typo.db"),
        ("plan --dim 0", "dimension"),
        ("plan --dim 9 --largest 1", "show more"),
        (
            "plan --dim=9 --round-seconds=0 --look-seconds=0 --compare-seconds=0",
            "set at least one of them above 0",
        ),
    ],
)
def test_an_error_is_one_sentence_and_exit_code_2(line, words, tmp_path, monkeypatch, refused):
    monkeypatch.setenv("ZORANK_STORE", f"sqlite:///{tmp_path}/runs.db")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.py").write_text("def f(x:\n")
    (tmp_path / "leaves.py").write_text("raise SystemExit")
    (tmp_path / "factory.py").write_text("def leave():\n    raise SystemExit\n")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    assert words in refused(*line.split())


def test_help_and_version(zorank):
    # In a new process, because all other tests run commands in one that was prepared.
    command = [sys.executable, "-W", "error", "-m", "zorank", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == __version__
    code, out, _ = zorank("minimize", "--help")
    assert code == 0
    assert "zo-ranksgd-memory" in out


def test_interrupting_keeps_what_was_found(zorank, tmp_path):
    (tmp_path / "slow.py").write_text(
        "import time\ndef f(x):\n    time.sleep(0.01)\n    return (x * x).sum()\n"
    )
    command = ["-m", "zorank", "minimize", "slow:f", "--dim", 3, "--points", 1_000_000]
    process = fork_server.start([*command, "--name", "slow", "--out", "r.json"])
    store = open_store(os.environ["ZORANK_STORE"])
    while not (store.runs() and any(line.answer for line in store.rounds("slow"))):
        assert process.poll() is None
        time.sleep(0.02)
    store.close()
    process.send_signal(signal.SIGINT)
    process.wait()
    assert "interrupted after" in process.stdout.read()
    process.close()
    assert json.loads((tmp_path / "r.json").read_text())["points"] > 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--method", "zo-sgd"], "needs values"),
        (["--out", "r.json"], "--out cannot be used with --human"),
        (["--plot", "p.png"], "--plot cannot be used with --human"),
        (["--maximize"], "--maximize cannot be used with --human"),
        (["--vectorized"], "--vectorized cannot be used with --human"),
    ],
)
def test_questions_that_people_cannot_answer_are_refused(refused, arguments, words):
    assert words in refused("minimize", "--human", "--dim", 2, *arguments)


def test_a_person_compares_for_scobo_within_bounds(zorank):
    line = ("minimize", "--human", "--dim", 2, "--method", "scobo", "--m", 4, "--bounds", "5,6")
    code, out, err = zorank(*line, input="1 2\nq\n")
    assert code == 0, err
    assert "Which are better than 0?" in out
    shown = [line.split("[")[1] for line in out.splitlines() if "[" in line and "]" in line]
    numbers = [float(n) for row in shown for n in row.split("]")[0].replace(",", " ").split()]
    assert numbers
    assert all(5 <= n <= 6 for n in numbers)


def test_a_class_is_no_function(refused):
    asked = ("minimize", "zorank.problems:RotatedEllipsoid", "--dim", 3)
    assert "must be a function that takes a candidate, found a type" in refused(*asked)
