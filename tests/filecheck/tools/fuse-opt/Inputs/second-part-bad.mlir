func.func @ok() {
  func.return
}

// -----

func.func @bad() -> i32 {
  return %b : i32
}
