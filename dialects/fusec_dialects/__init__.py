"""The dialects graph and npu. They know xDSL only."""
