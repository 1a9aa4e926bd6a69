"""Describes what a new run may use: renderers, methods, judges."""

from __future__ import annotations

from zorank.renderers import REGISTRY
from zorank.renderers.interface import RendererKind
from zorank.renderers.options import form_fields
from zorank.studio.judging import JudgeSpec
from zorank.studio.methods import Method, MethodSpec
from zorank.studio.models.catalog import (
    JudgeInfo,
    MethodInfo,
    OptionField,
    RendererInfo,
    SettingField,
)
from zorank.studio.studio import Studio


def method_info(method: Method, default: MethodSpec | None) -> MethodInfo:
    """Describe a method; its settings have the studio's defaults."""
    is_default = default is not None and default.name == method.name
    given = default.settings if default is not None and is_default else {}
    return MethodInfo(
        name=method.name,
        title=method.title,
        help=method.help,
        default=is_default,
        settings=[
            SettingField(
                name=name,
                label=setting.label,
                default=given.get(name, setting.default),
                help=setting.help,
            )
            for name, setting in method.settings.items()
        ],
    )


def renderer_info(studio: Studio, kind: RendererKind) -> RendererInfo:
    """Describe a renderer and its options."""
    return RendererInfo(
        name=kind.name,
        title=kind.title,
        description=kind.description,
        media_type=kind.media_type,
        options=[OptionField(**option) for option in kind.form],
        sample=studio.urls.sample(kind.name) if _renders_quickly(kind) else None,
    )


def _renders_quickly(kind: RendererKind) -> bool:
    """Whether a picture costs next to nothing; unknown, so false, for a user's own renderer."""
    is_picture = kind.media_type.startswith("image/")
    return kind.maker in REGISTRY.values() and is_picture and not kind.tells_progress


def judge_infos(studio: Studio) -> list[JudgeInfo]:
    """Describe the judges that a new run may have, and the renderers that each can score."""
    panel = studio.panel
    found = []
    for name in panel.offered():
        is_default = panel.default is not None and panel.default.name == name
        given = panel.default.options if panel.default and is_default else {}
        options = form_fields(panel.judges[name].maker, given)
        asked = {option["name"] for option in options}
        found.append(
            JudgeInfo(
                name=name,
                title=JudgeSpec(name).title,
                options=[OptionField(**option) for option in options],
                kept={key: value for key, value in given.items() if key not in asked},
                renderers=[
                    r
                    for r, kind in studio.renderers.items()
                    if panel.judges[name].fits(r, kind.media_type)
                ],
                default=is_default,
            )
        )
    return found
