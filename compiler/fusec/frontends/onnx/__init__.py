"""The ONNX reader: one function for each operator and opset, in a table."""
