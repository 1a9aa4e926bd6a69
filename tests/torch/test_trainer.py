"""Modules tuned from rankings: exact restore, exact resume, and a loss that goes down."""

import os
import signal
import sys
import threading

import numpy as np
import pytest
import torch
from torch import nn

import zorank
from tests.helpers import fork_server
from tests.helpers.processes import python
from zorank.errors import InvalidInput, ReplayError, StaleAnswer, StoreError, install_command
from zorank.stores import MemoryStore, open_store
from zorank.torch import RankTrainer, grid
from zorank.torch import weights as weights_module

INPUTS = torch.linspace(-2, 2, 40)[:, None]
TARGET = torch.sin(2 * INPUTS)


def small(seed=0, dtype=torch.float32):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1)).to(dtype)


def fit(model):
    """The error of a fit; it depends on the module alone."""
    dtype = next(model.parameters()).dtype
    return (model(INPUTS.to(dtype)) - TARGET).square().mean()


def error_of(model):
    with torch.no_grad():
        return float(fit(model))


def state(model):
    """All that a module holds, to the last bit."""
    return {
        name: tensor.detach().reshape(-1).view(torch.uint8).numpy().tobytes()
        for name, tensor in model.state_dict().items()
    }


def answer(trainer):
    """An answer that is a function of the round, so that runs can be compared."""
    return np.random.default_rng(trainer.rounds).permutation(8)[:5].tolist()


def answered(trainer, rounds):
    for _ in range(rounds):
        trainer.run.ask()
        trainer.tell(answer(trainer))
    return trainer


def test_without_torch_it_says_what_to_install():
    program = (
        "import sys; sys.modules['torch'] = None\n"
        "import zorank\n"
        "try:\n    import zorank.torch\n"
        "except zorank.MissingExtra as error:\n    print(error)"
    )
    assert install_command("torch") in python(program)


# Candidates, and back.


@pytest.mark.parametrize("law", ["normal", "rademacher"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_the_module_is_restored_bit_for_bit(law, dtype):
    model = small(dtype=dtype)
    trainer = RankTrainer(model, law=law, mu=0.3, step=0.1)
    for _ in range(5):
        before = state(model)
        shown = trainer.ask(state)
        assert state(model) == before
        assert len({str(s) for s in [*shown, before]}) == 9
        assert trainer.ask(state) == shown  # the same question until it is answered
        trainer.tell(answer(trainer))
        assert state(model) != before


def test_numbers_of_very_different_sizes_are_restored():
    model = nn.ParameterDict(
        {
            "huge": nn.Parameter(torch.randn(50) * 1e30),
            "tiny": nn.Parameter(torch.randn(50) * 1e-30),
            "zero": nn.Parameter(torch.zeros(50)),
            "mixed": nn.Parameter(torch.tensor([1e-8, 1.0, -300.0])),
        }
    )
    trainer = RankTrainer(model, mu=0.5, step=0.5)
    for _ in range(20):
        before = state(model)
        trainer.ask(lambda model: None)
        assert state(model) == before
        trainer.tell(answer(trainer))


def test_numbers_that_grow_get_a_coarser_grid_and_are_still_restored():
    model = small()
    trainer = RankTrainer(model, step=30.0, mu=0.5)
    units = trainer._weights.units()
    for _ in range(10):
        answered(trainer, 1)
        before = state(model)
        trainer.ask(lambda model: None)
        assert state(model) == before
    assert all(now > then for now, then in zip(trainer._weights.units(), units, strict=True))


def test_restored_after_an_error_and_after_ctrl_c():
    model = small()
    trainer = RankTrainer(model)
    before = state(model)
    for error in (ZeroDivisionError, KeyboardInterrupt):

        def fails(model, error=error):
            assert state(model) != before
            raise error

        with pytest.raises(error):
            trainer.ask(fails)
        assert state(model) == before


def test_ctrl_c_while_weights_are_moving_waits_until_they_have_moved(monkeypatch):
    model = small()
    trainer = RankTrainer(model)
    before, draw = state(model), weights_module._draw
    calls = []

    def draw_and_press(*arguments):
        calls.append(1)
        if len(calls) == 2:  # in the second of four tensors
            signal.raise_signal(signal.SIGINT)
        draw(*arguments)

    monkeypatch.setattr(weights_module, "_draw", draw_and_press)
    with pytest.raises(KeyboardInterrupt):
        trainer.ask(fit)
    assert len(calls) == 8  # all four there, all four back
    assert state(model) == before


def test_a_candidate_as_a_context():
    model = small()
    trainer = RankTrainer(model)
    before = state(model)
    with trainer.candidate(3) as candidate:
        assert candidate is model
        third = state(model)
        for forbidden in (lambda: trainer.tell([0]), trainer.undo, lambda: trainer.ask(fit)):
            with pytest.raises(InvalidInput, match="one of the candidates"):
                forbidden()
    assert state(model) == before
    assert trainer.ask(state)[3] == third
    with pytest.raises(InvalidInput, match="count from 0 to 7"), trainer.candidate(8):
        pass


def test_it_works_in_another_thread():
    model = small()
    trainer, before = RankTrainer(model), state(model)
    worker = threading.Thread(target=trainer.ask, args=(fit,))
    worker.start()
    worker.join()
    assert state(model) == before


def test_candidates_are_shown_in_evaluation_mode_and_buffers_stay():
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Dropout(0.5))
    model[2].eval()
    trainer = RankTrainer(model)
    before = state(model)
    outputs = trainer.ask(lambda model: model(torch.ones(4, 3)))
    assert not any(output.requires_grad for output in outputs)
    assert state(model) == before
    assert [module.training for module in model] == [True, True, False]
    with torch.inference_mode():
        trainer.step(lambda model: model(torch.ones(4, 3)).sum())


def test_no_second_copy_of_a_large_tensor_is_made(monkeypatch):
    """What is asked for while weights move is a few chunks, however large the tensor."""
    monkeypatch.setattr(grid, "CHUNK", 1000)
    model = nn.Linear(100, 100, bias=False)
    for law in ("normal", "rademacher"):
        trainer = RankTrainer(model, law=law, m=2)
        with torch.profiler.profile(profile_memory=True) as profile:
            trainer.ask(lambda model: None)
            trainer.tell([0, 1])
        sizes = [event.self_cpu_memory_usage for event in profile.events()]
        assert 0 <= max(sizes, default=0) <= 8 * 1000 < model.weight.nbytes


# What is chosen.


def test_which_parameters_move():
    def moved(only, model=None):
        model = model or small()
        before = state(model)
        answered(RankTrainer(model, only), 1)
        return [name for name, now in state(model).items() if now != before[name]]

    assert moved(None) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert moved("*.bias") == ["0.bias", "2.bias"]
    assert moved(["2.*", "0.bias"]) == ["0.bias", "2.weight", "2.bias"]
    assert moved(lambda name, parameter: parameter.ndim == 2) == ["0.weight", "2.weight"]
    frozen = small()
    frozen[0].requires_grad_(False)
    assert moved(None, frozen) == ["2.weight", "2.bias"]
    assert moved("0.*", frozen) == ["0.weight", "0.bias"]


def test_arguments_of_another_type_are_refused_in_one_sentence(tmp_path):
    for only in (3, [3], np.array("a"), []):
        with pytest.raises(InvalidInput, match="`only` must be a glob of names"):
            RankTrainer(torch.nn.Linear(2, 1), only)
    for arguments, words in (
        ({"store": 3}, "a store must be a URL"),
        ({"folder": 3}, "the folder 3 cannot be made"),
        ({"m": 10**6}, "m must be a whole number from 2 to 100000"),
        ({"relative": "no"}, "relative must be True or False"),
    ):
        with pytest.raises(InvalidInput, match=words):
            RankTrainer(torch.nn.Linear(2, 1), **arguments)
    trainer = RankTrainer(torch.nn.Linear(2, 1), m=2)
    with pytest.raises(InvalidInput, match="rounds must be a whole number from 0, found None"):
        trainer.minimize(lambda model: 0.0, None)
    with pytest.raises(InvalidInput, match="callback must be a function or None, found 3"):
        trainer.minimize(lambda model: 0.0, 1, callback=3)
    with pytest.raises(InvalidInput, match="expected a function of the module, found None"):
        trainer.step(None)
    with pytest.raises(InvalidInput, match="a loss must be a number"):
        trainer.step(lambda model: 10**400)


def test_wrong_choices_are_refused_with_a_remedy():
    with pytest.raises(InvalidInput, match=r"no parameter named '0\.weigth'; did you mean 0\.w"):
        RankTrainer(small(), "0.weigth")
    with pytest.raises(InvalidInput, match="none of the 4 parameters of this Sequential"):
        RankTrainer(small().requires_grad_(False))
    with pytest.raises(InvalidInput, match=r"must be a torch\.nn\.Module, found 3"):
        RankTrainer(3)
    with pytest.raises(InvalidInput, match="law must be"):
        RankTrainer(small(), law="cauchy")
    with pytest.raises(InvalidInput, match="every must be a whole number"):
        RankTrainer(small(), every=0)
    with pytest.raises(InvalidInput, match=r"mu=1e-09 is too small for parameter '0\.weight'"):
        RankTrainer(small(), mu=1e-9)
    with pytest.raises(InvalidInput, match="on meta"):
        RankTrainer(nn.Linear(2, 2, device="meta"))
    broken = small()
    broken[0].weight.data[0] = float("nan")
    with pytest.raises(InvalidInput, match=r"'0\.weight' contains non-finite values"):
        RankTrainer(broken)
    strided = nn.Module()
    strided.weight = nn.Parameter(torch.zeros(4, 6)[:, ::2])
    with pytest.raises(InvalidInput, match="not contiguous"):
        RankTrainer(strided)


def test_tied_parameters_move_once():
    model = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False))
    model[1].weight = model[0].weight
    for only in (None, "1.*"):
        trainer = RankTrainer(model, only)
        assert sum(trainer.parameters.values()) == 16
        answered(trainer, 1)
        assert model[1].weight is model[0].weight


def test_memory_formats_are_kept():
    model = nn.Conv2d(3, 8, 3).to(memory_format=torch.channels_last)
    trainer, before = RankTrainer(model), state(model)
    trainer.ask(lambda model: model(torch.ones(1, 3, 5, 5)))
    assert state(model) == before
    answered(trainer, 2)
    assert model.weight.is_contiguous(memory_format=torch.channels_last)


# Answers.


def test_an_answer_moves_the_weights_as_the_equation_says():
    model = small(dtype=torch.float64)
    trainer = RankTrainer(model, relative=False, step=0.25, mu=0.125)

    def flat(model):
        return nn.utils.parameters_to_vector(model.parameters()).numpy().copy()

    with torch.no_grad():
        centre = flat(model)
        directions = [(x - centre) / 0.125 for x in trainer.ask(flat)]
        ranking = zorank.Ranking.of([2, [0, 5]], worst=[1])
        trainer.tell(ranking)
        expected = centre - 0.25 * zorank.rank_gradient(directions, ranking)
        np.testing.assert_allclose(flat(model), expected, rtol=0, atol=1e-12)


def test_no_difference_moves_nothing_and_widens():
    model = small()
    trainer = RankTrainer(model)
    before = state(model)
    trainer.ask(fit)
    trainer.tell([])
    assert state(model) == before
    assert trainer.history[-1]["radius"] == pytest.approx(1.5 * trainer._optimizer.mu)
    trainer.step(lambda model: 1.0)
    trainer.step(lambda model: float("nan"))
    assert state(model) == before


def test_losses_that_are_not_finite_come_last():
    trainer = RankTrainer(small(), m=4)
    values = iter([3.0, float("nan"), 1.0, -float("inf")])
    trainer.step(lambda model: next(values))
    ranking = trainer.run.rounds()[0].answer
    assert ranking.levels(4).tolist() == [1, 2, 0, 2]
    with pytest.raises(InvalidInput, match="a loss must be a number, found 'good'"):
        trainer.step(lambda model: "good")
    with pytest.raises(InvalidInput, match="a loss must be a number"):
        trainer.step(lambda model: model(INPUTS))


def test_a_person_ranks_what_the_module_makes():
    model = nn.Sequential(nn.Linear(1, 6, bias=False))
    trainer = RankTrainer(model, step=0.2, mu=0.1)

    def likes_rising(outputs):
        """Stands for a person: names the best two, and sometimes sees no difference."""
        scores = [float(output @ torch.arange(6.0)) for output in outputs]
        order = np.argsort(scores)[::-1]
        return [] if trainer.rounds % 7 == 3 else order[:2].tolist()

    def heard():
        with torch.no_grad():
            return float(model(torch.ones(1)) @ torch.arange(6.0))

    before = heard()
    for _ in range(30):
        outputs = trainer.ask(lambda model: model(torch.ones(1)))
        trainer.tell(likes_rising(outputs), rater="ann")
    assert heard() > before + 1
    assert trainer.history[-1]["rater"] == "ann"
    with pytest.raises(StaleAnswer, match="ask first"):
        trainer.tell([0])
    trainer.ask(lambda model: None)
    with pytest.raises(InvalidInput, match="position 9 is not on a slate of 8"):
        trainer.tell([9])


@pytest.mark.parametrize("law", ["normal", "rademacher"])
def test_the_loss_of_a_fit_goes_down(law):
    model = small()
    trainer = RankTrainer(model, law=law)
    before = error_of(model)
    trainer.minimize(fit, 200, progress=False)
    assert error_of(model) < 0.5 * before
    assert trainer.rounds == 200
    assert trainer.history[-1]["mean"] < trainer.history[0]["mean"]


def test_an_increasing_transform_of_the_loss_changes_nothing():
    plain, bent = small(), small()
    RankTrainer(plain).minimize(fit, 10, progress=False)
    RankTrainer(bent).minimize(lambda model: fit(model).double().exp() * 7, 10, progress=False)
    assert state(plain) == state(bent)


def test_a_callback_stops():
    trainer = RankTrainer(small())
    trainer.minimize(fit, 10, progress=False, callback=lambda trainer: trainer.rounds == 3)
    assert trainer.rounds == 3

    def stop(trainer):
        raise StopIteration

    trainer.minimize(fit, 10, progress=False, callback=stop)
    assert trainer.rounds == 4
    assert "4 rounds answered" in repr(trainer)


# Undo and resume.


def test_undo_is_exact_without_any_checkpoint():
    model = small()
    trainer = answered(RankTrainer(model), 4)
    fourth = state(model)
    shown = trainer.ask(state)
    answered(trainer, 3)
    trainer.undo(3)
    assert state(model) == fourth
    assert trainer.ask(state) == shown
    trainer.undo(4)
    assert state(model) == state(_at_start(small()))
    with pytest.raises(InvalidInput, match="has 0 answered"):
        trainer.undo()


def _at_start(model):
    RankTrainer(model)
    return model


@pytest.mark.parametrize(
    ("dtype", "step"), [(torch.float32, 30.0), (torch.bfloat16, 0.1)], ids=["outgrown", "half"]
)
def test_where_a_move_cannot_be_reversed_undo_goes_back_to_a_checkpoint(tmp_path, dtype, step):
    def trainer(model, **kept):
        return RankTrainer(model, step=step, every=4, **kept)

    model = small(dtype=dtype)
    tuned = answered(trainer(model, folder=tmp_path), 6)
    sixth = state(model)
    answered(tuned, 9)
    tuned.undo(9)
    assert state(model) == sixth
    assert sorted(file.name for file in tmp_path.glob("*.pt"))[0] == "round-00000000.pt"
    RankTrainer(again := small(dtype=dtype), step=step, folder=tmp_path)
    assert state(again) == sixth

    alone = small(dtype=dtype)
    without = answered(trainer(alone), 15)
    with pytest.raises(InvalidInput, match="give the trainer a folder"):
        without.undo(15)
    assert without.rounds == 15


@pytest.mark.parametrize("rounds", [3, 4, 9])
def test_a_run_goes_on_from_its_log_and_its_checkpoints(tmp_path, rounds):
    whole = small()
    answered(RankTrainer(whole), 14)
    first = answered(RankTrainer(small(), folder=tmp_path / "run", every=4), rounds)
    waits = first.ask(state)
    model = small(seed=1 if rounds >= 4 else 0)  # a checkpoint replaces whatever is there
    second = RankTrainer(model, folder=tmp_path / "run", every=4)
    assert second.rounds == rounds
    assert second.ask(state) == waits
    answered(second, 14 - rounds)
    assert state(model) == state(whole)


def test_a_log_alone_is_enough_with_the_model_of_the_start():
    store = MemoryStore()
    whole, model = small(), small()
    answered(RankTrainer(whole, store=store, name="fit"), 5)
    again = RankTrainer(model, store=store, name="fit")
    assert state(model) == state(whole)
    answered(again, 1)
    with pytest.raises(ReplayError, match="not the initial weights of run 'fit'"):
        RankTrainer(small(seed=1), store=store, name="fit")


def test_answers_given_elsewhere_are_followed():
    store = MemoryStore()
    here, there = small(), small()
    mine = RankTrainer(here, store=store, name="fit")
    theirs = RankTrainer(there, store=store, name="fit")
    mine.ask(fit)
    answered(theirs, 2)
    with pytest.raises(StaleAnswer):
        mine.tell([0])
    mine.ask(fit)
    assert state(here) == state(there)


def test_another_model_or_choice_is_refused():
    store = MemoryStore()
    answered(RankTrainer(small(), store=store, name="fit"), 1)

    def refused(model, message, only=None, **settings):
        before = state(model)
        with pytest.raises(ReplayError, match=message):
            RankTrainer(model, only, store=store, name="fit", **settings)
        assert state(model) == before

    refused(nn.Linear(1, 16), r"tunes other parameters: '0\.weight' is not selected here")
    refused(small(), r"'0\.weight' is not selected here", only="*.bias")
    wider = nn.Sequential(nn.Linear(1, 17), nn.Tanh(), nn.Linear(17, 1))
    refused(wider, r"'0\.weight' has shape \[16, 1\] there and \[17, 1\] here")
    refused(small(dtype=torch.float64), "dtype float32 there and float64 here")
    refused(nn.Sequential(*small(), nn.Linear(1, 1)), r"'3\.weight' is selected only here")
    refused(small(), "mu is 0.05 there and 0.5 here", mu=0.5)
    refused(small(), "seed is 0 there and 1 here", seed=1)
    zorank.Run("zo-ranksgd", [0.0], store=store, name="other")
    with pytest.raises(ReplayError, match="optimizer is 'zo-ranksgd' there"):
        RankTrainer(small(), store=store, name="other")


def test_a_damaged_checkpoint_is_passed_over(tmp_path):
    whole = small()
    answered(RankTrainer(whole, folder=tmp_path, every=3), 7)
    files = sorted(tmp_path.glob("*.pt"))
    assert [file.name for file in files] == [f"round-0000000{n}.pt" for n in (0, 3, 6)]
    content = files[2].read_bytes()
    for damaged in (content[: len(content) // 2], b"", _with_a_number_changed(files[2])):
        files[2].write_bytes(damaged)
        model = small()
        with pytest.warns(UserWarning, match=r"round-00000006\.pt is damaged; an older one"):
            RankTrainer(model, folder=tmp_path, every=3)
        assert state(model) == state(whole)


def _with_a_number_changed(path):
    content = bytearray(path.read_bytes())
    number = torch.load(path, weights_only=True)["weights"]["0.weight"].numpy().tobytes()
    content[content.index(number)] ^= 1
    return bytes(content)


def test_a_checkpoint_of_an_undone_past_is_passed_over(tmp_path):
    model = small()
    trainer = answered(RankTrainer(model, folder=tmp_path, every=4), 4)
    store = open_store(tmp_path / "run.db")
    run = zorank.Run.open(store, "training", trainer._optimizer)
    run.undo(2)
    for _ in range(3):  # the same number of rounds, and more, of another past
        run.ask()
        run.tell([1])
    again, replayed = small(), small()
    with pytest.warns(UserWarning, match="follows answers that were undone"):
        resumed = RankTrainer(again, folder=tmp_path, every=4)
    other = RankTrainer(replayed)
    answered(other, 2)
    for _ in range(3):
        other.run.ask()
        other.tell([1])
    assert resumed.rounds == 5
    assert state(again) == state(replayed)


def test_another_device_or_torch_goes_on_from_its_last_checkpoint_only(tmp_path, monkeypatch):
    trainer = answered(RankTrainer(small(), folder=tmp_path, every=3), 4)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(weights_module.Weights, "draws_digest", lambda self: "other")
        with (
            pytest.warns(UserWarning, match="draws other numbers"),
            pytest.raises(ReplayError, match="draws other random numbers"),
        ):
            RankTrainer(small(), folder=tmp_path)
    trainer.save()
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(weights_module.Weights, "draws_digest", lambda self: "other")
        moved = RankTrainer(small(), folder=tmp_path)
        assert moved.rounds == 4
        answered(moved, 1)
        assert RankTrainer(small(), folder=tmp_path).rounds == 5


def test_folders_of_others_and_folders_that_cannot_be_written(tmp_path):
    RankTrainer(small(), folder=tmp_path, store=MemoryStore(), name="a")
    with pytest.raises(ReplayError, match="checkpoints of another training"):
        RankTrainer(small(), folder=tmp_path, store=MemoryStore(), name="b")
    with pytest.raises(InvalidInput, match="give the trainer one"):
        RankTrainer(small()).save()
    folder = tmp_path / "gone"
    trainer = RankTrainer(small(), folder=folder, store=MemoryStore())
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    with pytest.raises(StoreError, match="nothing is lost"):
        trainer.save()


TORCH = ("torch", "zorank.torch", "zorank.stores.sql")
PROGRAM = """
import sys
import torch
from torch import nn
from zorank.torch import RankTrainer

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 1))
inputs = torch.linspace(-2, 2, 40)[:, None]
trainer = RankTrainer(model, folder=sys.argv[1], every=7)

def loss(model):
    noise = torch.randn(40, 1, generator=torch.Generator().manual_seed(trainer.rounds))
    return (model(inputs) - torch.sin(2 * inputs) - 0.1 * noise).square().mean()

def tick(trainer):
    print(trainer.rounds, flush=True)
    if sys.argv[2:] == [str(trainer.rounds)]:
        sys.stdin.read()  # until it is killed, however late that comes

trainer.minimize(loss, 40, callback=tick)
"""


def test_a_training_that_is_killed_equals_one_that_is_not(tmp_path, monkeypatch):
    killed = str(tmp_path / "killed")
    for last in (5, 18):
        # Its input stays open, so it waits in its thirtieth round at the latest.
        given, kept_open = os.pipe()
        with open(given, "rb") as stdin, open(kept_open, "wb"):
            command = ["-c", PROGRAM, killed, 30]
            process = fork_server.start(command, preload=TORCH, stdin=stdin, warnings="error")
            seen = next(int(line) for line in process.stdout if int(line) >= last)
            process.close()
        assert process.returncode == -signal.SIGKILL
        store = open_store(tmp_path / "killed" / "run.db")
        assert seen <= sum(line.answer is not None for line in store.rounds("training")) < 40
        store.close()

    def finished(folder):
        monkeypatch.setattr(sys, "argv", ["program", str(folder)])
        names = {}
        exec(PROGRAM, names)
        assert names["trainer"].rounds == 40
        return state(names["model"])

    assert finished(killed) == finished(tmp_path / "whole")


def test_a_module_that_was_converted_is_refused():
    model = nn.Linear(3, 2)
    trainer = RankTrainer(model, m=4)
    trainer.step(lambda m: float(m.weight.square().sum()))
    model.double()
    with pytest.raises(InvalidInput, match="has moved in memory"):
        trainer.step(lambda m: float(m.weight.square().sum()))
