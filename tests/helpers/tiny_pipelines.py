"""Diffusion pipelines as small as they can be: right in every shape, random in every weight."""

import re

SMALL_BLOCKS = {"block_out_channels": (16, 32), "norm_num_groups": 8}


def stable_diffusion(folder):
    """A Stable Diffusion pipeline of 64 × 64 pictures in this folder."""
    import diffusers
    import torch

    torch.manual_seed(0)
    pipeline = diffusers.StableDiffusionPipeline(
        unet=unet(cross_attention_dim=32),
        vae=autoencoder(),
        text_encoder=text_encoder(),
        tokenizer=tokenizer(),
        scheduler=scheduler(),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )
    pipeline.save_pretrained(folder)
    return folder


def stable_diffusion_xl(folder):
    """The same in the shape of SDXL: two text encoders, a pooled one, sizes as conditions."""
    import diffusers
    import torch

    torch.manual_seed(0)
    words = tokenizer()
    pipeline = diffusers.StableDiffusionXLPipeline(
        unet=unet(
            cross_attention_dim=64,
            addition_embed_type="text_time",
            addition_time_embed_dim=8,
            projection_class_embeddings_input_dim=6 * 8 + 32,
        ),
        vae=autoencoder(),
        text_encoder=text_encoder(),
        text_encoder_2=text_encoder(projected=True),
        tokenizer=words,
        tokenizer_2=words,
        scheduler=scheduler(diffusers.EulerDiscreteScheduler),
    )
    pipeline.save_pretrained(folder)
    return folder


def unet(**conditions):
    import diffusers

    return diffusers.UNet2DConditionModel(
        sample_size=32,
        in_channels=4,
        out_channels=4,
        layers_per_block=1,
        attention_head_dim=8,
        **SMALL_BLOCKS,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        **conditions,
    )


def autoencoder():
    import diffusers

    return diffusers.AutoencoderKL(
        in_channels=3,
        out_channels=3,
        latent_channels=4,
        **SMALL_BLOCKS,
        down_block_types=("DownEncoderBlock2D", "DownEncoderBlock2D"),
        up_block_types=("UpDecoderBlock2D", "UpDecoderBlock2D"),
    )


def text_encoder(projected=False):
    import transformers

    model = transformers.CLIPTextModelWithProjection if projected else transformers.CLIPTextModel
    return model(
        transformers.CLIPTextConfig(
            vocab_size=600,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            projection_dim=32,
            bos_token_id=512,
            eos_token_id=513,
            pad_token_id=513,
        )
    ).eval()


def scheduler(kind=None, **settings):
    """The noise schedule of Stable Diffusion, as a scheduler of this kind."""
    import diffusers

    schedule = {"beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear"}
    more = {"steps_offset": 1, "timestep_spacing": "leading"}
    kind = kind or diffusers.PNDMScheduler
    return kind.from_config({**schedule, **more, "skip_prk_steps": True}, **settings)


def tokenizer():
    """CLIP's tokenizer without merges: every byte of a prompt is a token."""
    import transformers
    from tokenizers.pre_tokenizers import ByteLevel

    letters = sorted(ByteLevel.alphabet())
    words = [*letters, *(letter + "</w>" for letter in letters)]
    words += ["<|startoftext|>", "<|endoftext|>"]
    vocabulary = {word: index for index, word in enumerate(words)}
    return transformers.CLIPTokenizer(vocabulary, [], model_max_length=77)


def save_lora(folder, name, seed, text=False):
    """A LoRA of random weights for the tiny Stable Diffusion pipeline, as peft writes it."""
    import diffusers
    import peft
    import torch

    def weights(model, *places):
        settings = {"r": 2, "lora_alpha": 2, "init_lora_weights": "gaussian"}
        model.add_adapter(peft.LoraConfig(target_modules=list(places), **settings))
        found = peft.get_peft_model_state_dict(model)
        return {key: torch.randn_like(value) for key, value in found.items()}

    torch.manual_seed(seed)
    saved = {"unet_lora_layers": weights(unet(cross_attention_dim=32), "to_q", "to_v", "to_out.0")}
    if text:
        saved["text_encoder_lora_layers"] = weights(text_encoder(), "q_proj", "v_proj")
    diffusers.StableDiffusionPipeline.save_lora_weights(folder, weight_name=name, **saved)
    return f"{folder}/{name}"


def save_single_file(folder, file):
    """The weights of the pipeline in this folder in one file, under the names of its authors."""
    from safetensors.torch import load_file, save_file

    def part(name, stem="diffusion_pytorch_model"):
        return load_file(f"{folder}/{name}/{stem}.safetensors")

    def renamed(start, weights, names):
        found = {}
        for key, value in weights.items():
            more = RESNET_NAMES if names is UNET_NAMES and "resnets" in key else []
            for ours, theirs in [*names, *more]:
                key = key.replace(ours, theirs)
            wide = value[..., None, None] if CONVOLVED.search(key) else value
            found[start + key] = wide.contiguous()
        return found

    clip = part("text_encoder", "model")
    start = "" if any(key.startswith("text_model.") for key in clip) else "text_model."
    save_file(
        {
            **renamed("model.diffusion_model.", part("unet"), UNET_NAMES),
            **renamed("first_stage_model.", part("vae"), VAE_NAMES),
            **renamed(f"cond_stage_model.transformer.{start}", clip, []),
        },
        file,
    )
    return str(file)


CONVOLVED = re.compile(r"coder\.mid\.attn_1\.(q|k|v|proj_out)\.weight")
"""Weights of the autoencoder that single files store as convolutions."""

RESNET_NAMES = [
    ("norm1", "in_layers.0"),
    ("conv1", "in_layers.2"),
    ("time_emb_proj", "emb_layers.1"),
    ("norm2", "out_layers.0"),
    ("conv2", "out_layers.3"),
    ("conv_shortcut", "skip_connection"),
]
UNET_NAMES = [
    ("time_embedding.linear_1", "time_embed.0"),
    ("time_embedding.linear_2", "time_embed.2"),
    ("conv_in.", "input_blocks.0.0."),
    ("conv_norm_out", "out.0"),
    ("conv_out", "out.2"),
    ("down_blocks.0.resnets.0", "input_blocks.1.0"),
    ("down_blocks.0.downsamplers.0.conv", "input_blocks.2.0.op"),
    ("down_blocks.1.resnets.0", "input_blocks.3.0"),
    ("down_blocks.1.attentions.0", "input_blocks.3.1"),
    ("mid_block.resnets.0", "middle_block.0"),
    ("mid_block.attentions.0", "middle_block.1"),
    ("mid_block.resnets.1", "middle_block.2"),
    ("up_blocks.0.resnets.0", "output_blocks.0.0"),
    ("up_blocks.0.attentions.0", "output_blocks.0.1"),
    ("up_blocks.0.resnets.1", "output_blocks.1.0"),
    ("up_blocks.0.attentions.1", "output_blocks.1.1"),
    ("up_blocks.0.upsamplers.0.conv", "output_blocks.1.2.conv"),
    ("up_blocks.1.resnets.0", "output_blocks.2.0"),
    ("up_blocks.1.resnets.1", "output_blocks.3.0"),
]
VAE_NAMES = [
    ("mid_block.attentions.0.group_norm", "mid.attn_1.norm"),
    ("mid_block.attentions.0.to_q", "mid.attn_1.q"),
    ("mid_block.attentions.0.to_k", "mid.attn_1.k"),
    ("mid_block.attentions.0.to_v", "mid.attn_1.v"),
    ("mid_block.attentions.0.to_out.0", "mid.attn_1.proj_out"),
    ("mid_block.resnets.0", "mid.block_1"),
    ("mid_block.resnets.1", "mid.block_2"),
    ("down_blocks.0.downsamplers.0", "down.0.downsample"),
    ("up_blocks.0.upsamplers.0", "up.1.upsample"),
    ("down_blocks.", "down."),
    ("up_blocks.0.", "up.1."),
    ("up_blocks.1.", "up.0."),
    ("resnets.", "block."),
    ("conv_norm_out", "norm_out"),
    ("conv_shortcut", "nin_shortcut"),
]
"""Names of diffusers and of the authors of Stable Diffusion, for pipelines of two blocks."""
