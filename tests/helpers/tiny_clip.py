"""A CLIP model small enough for tests: random weights, a tokenizer of bytes, pictures of 32²."""


def save_tiny_clip(folder):
    """Save it as a user has one: a folder with model, tokenizer and image processor."""
    import torch
    from tokenizers.pre_tokenizers import ByteLevel
    from transformers import CLIPConfig, CLIPImageProcessorPil, CLIPModel, CLIPTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    letters = sorted(ByteLevel.alphabet())
    tokens = [*letters, *(f"{letter}</w>" for letter in letters)]
    tokens += ["<|startoftext|>", "<|endoftext|>"]
    tokenizer = CLIPTokenizer(vocab={token: i for i, token in enumerate(tokens)}, merges=[])
    start, end = len(tokens) - 2, len(tokens) - 1
    small = {
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
    }
    ids = {"bos_token_id": start, "eos_token_id": end, "pad_token_id": end}
    text = {**small, **ids, "vocab_size": len(tokens), "max_position_embeddings": 24}
    vision = {**small, "image_size": 32, "patch_size": 8}
    torch.manual_seed(0)
    model = CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=8))
    crop = {"height": 32, "width": 32}
    processor = CLIPImageProcessorPil(size={"shortest_edge": 32}, crop_size=crop)
    for part in (model, tokenizer, processor):
        part.save_pretrained(folder)
