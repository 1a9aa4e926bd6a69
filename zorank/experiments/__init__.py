"""The measurements behind what zorank claims: each can be run again with one command."""
