"""From a scheduled kernel to npu IR: one emitter for each kernel family."""
