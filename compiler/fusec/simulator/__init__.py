"""Runs npu IR: numbers, cycles and races. Imports dialects, semantics and hw, never a pass.

decode.decode_kernel        a kernel function -> `form.Kernel`, plain Python, for every reader
stream.stream_of            the events of one block of it, addresses evaluated
functional                  run_kernel, run_host, Program: what is computed
witness.witness             what is wrong with a placed kernel or module
adversary.run_adversary     the judge of the witness: a kernel in a random legal order
"""
