"""What notebooks show of exhibits, slates, runs and results, and the figures of a history."""

import numpy as np
import pytest

import zorank
from zorank import Exhibit
from zorank.problems import sphere
from zorank.slates import Points


def shown(thing):
    bundle = thing._repr_mimebundle_(include=None, exclude=None)
    assert set(bundle) == {"text/plain", "text/html"}
    assert len(bundle["text/plain"]) < 1000
    return bundle


@pytest.mark.parametrize(
    ("media_type", "tag"),
    [
        ("image/png", '<img alt="image/png" src="data:image/png;base64,AAEC"'),
        ("audio/wav", '<audio controls src="data:audio/wav;base64,AAEC"'),
        ("video/mp4", "<video controls muted"),
        ("application/x-thing", "<p>Exhibit application/x-thing, 3 bytes</p>"),
    ],
)
def test_an_exhibit_is_shown_itself(media_type, tag):
    bundle = shown(Exhibit(media_type, b"\x00\x01\x02"))
    assert bundle["text/plain"] == f"<Exhibit {media_type}, 3 bytes>"
    assert bundle["text/html"].startswith(tag)


def test_texts_are_text_and_pages_get_no_scripts():
    text = shown(Exhibit("text/plain", b"<script>alert(1)</script>" + b"x" * 9000))["text/html"]
    assert "<script>" not in text
    assert len(text) < 3000
    page = shown(Exhibit("text/html", b'"<script>alert(1)</script>'))["text/html"]
    assert page.startswith("<iframe sandbox srcdoc=")
    assert "<script>" not in page
    odd = shown(Exhibit('image/png"onerror="alert(1)', b""))["text/html"]
    assert '"onerror' not in odd


def test_a_large_exhibit_is_only_described():
    assert shown(Exhibit("image/png", bytes(5_000_000)))["text/html"] == (
        "<p>Exhibit image/png, 5.0 MB</p>"
    )


def test_a_slate_shows_its_first_numbers():
    slate = zorank.Slate(Points(np.arange(200.0).reshape(10, 20)), k=3)
    bundle = shown(slate)
    assert bundle["text/plain"] == "<Slate of 10 candidates, 20 dimensions: rank, the best 3>"
    assert "2 candidates more, 12 coordinates more" in bundle["text/html"]
    assert bundle["text/html"].count("<tr>") == 9


def test_a_large_slate_is_not_computed():
    class Untouchable(Points):
        def row(self, i):
            raise AssertionError("computed")

    assert "candidates" in shown(zorank.Slate(Untouchable(np.ones((2, 10_001)))))["text/html"]


def test_a_run_shows_its_last_rounds():
    run = zorank.Run("zo-ranksgd-memory", np.zeros(4), name="<b>")
    assert "<table" not in shown(run)["text/html"]
    for _ in range(10):
        run.ask()
        run.tell([0], rater="<i>")
    bundle = shown(run)
    assert bundle["text/plain"] == repr(run)
    assert "2 earlier rounds more" in bundle["text/html"]
    assert "&lt;i&gt;" in bundle["text/html"]
    assert "<b>" not in bundle["text/html"]


def test_a_result_is_shown_without_another_evaluation():
    evaluated = []

    def f(x):
        evaluated.append(x)
        return sphere(x)

    result = zorank.minimize(f, np.ones(20), points=100)
    before = len(evaluated)
    bundle = shown(result)
    assert len(evaluated) == before
    assert "best value seen" in bundle["text/plain"]
    assert result.fun >= 0
    assert "fun" in shown(result)["text/html"]


def test_figures_show_values_where_they_are_known():
    result = zorank.minimize(lambda x: -sphere(x), np.ones(4), points=200, maximize=True)
    for figure in (result.plot(), result.run.plot()):
        [axes] = figure.axes
        values, best = (line.get_ydata() for line in axes.get_lines())
        assert list(best) == list(np.maximum.accumulate(values))
        assert figure._repr_png_().startswith(b"\x89PNG")


def test_figures_show_reports_where_nobody_knows_values():
    run = zorank.Run("zo-ranksgd-memory", np.zeros(4))
    with pytest.raises(zorank.InvalidInput, match="no round is answered yet"):
        run.plot()
    for _ in range(3):
        run.ask()
        run.tell([0])
    figure = run.plot()
    assert [axes.get_title() for axes in figure.axes] == ["radius", "memory"]
    assert [len(axes.get_lines()[0].get_xdata()) for axes in figure.axes] == [3, 3]
