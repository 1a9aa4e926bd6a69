"""Diffusion pipelines as small as they can be: right in every shape, random in every weight."""

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
