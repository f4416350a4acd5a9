# The sources of labrig-core outside the simulated card.

# Also part of the program labrig-device: what the core and the simulated card must agree on.
set(LABRIG_BASE_SOURCES
  src/error.cpp
  src/ops/elementwise_kernels.cpp
  src/ops/plain/matmul.cpp
  src/ops/plain/reduce.cpp
  src/ops/plain/run.cpp
  src/ops/schema/conv2d.cpp
  src/ops/schema/elementwise.cpp
  src/ops/schema/index.cpp
  src/ops/schema/matmul.cpp
  src/ops/schema/nll_loss.cpp
  src/ops/schema/norm.cpp
  src/ops/schema/random.cpp
  src/ops/schema/reduce.cpp
  src/ops/schema/schema.cpp
  src/ops/schema/softmax.cpp
  src/ops/schema/step.cpp
  src/tensor/dims.cpp
  src/tensor/dtype.cpp
  src/tensor/layout.cpp
)

set(LABRIG_CORE_SOURCES
  backends/cpu/backend.cpp
  backends/cpu/blas.cpp
  backends/cpu/matmul.cpp
  backends/cpu/reduce.cpp
  src/autograd/engine.cpp
  src/device/device.cpp
  src/device/pinned.cpp
  src/device/registry.cpp
  src/device/slot.cpp
  src/device/stream.cpp
  src/graph/node.cpp
  src/memory/adaptors.cpp
  src/memory/allocator_stack.cpp
  src/memory/blocks.cpp
  src/memory/caching_allocator.cpp
  src/memory/expandable.cpp
  src/memory/host_allocator.cpp
  src/memory/host_memory.cpp
  src/memory/host_statistics.cpp
  src/memory/inspect.cpp
  src/memory/memory.cpp
  src/memory/memory_log.cpp
  src/memory/out_of_memory.cpp
  src/memory/release.cpp
  src/memory/rounding.cpp
  src/memory/settings.cpp
  src/memory/snapshot.cpp
  src/memory/statistics.cpp
  src/memory/stream_uses.cpp
  src/memory/summary.cpp
  src/memory/uncached_allocator.cpp
  src/ops/cat.cpp
  src/ops/elementwise.cpp
  src/ops/matmul.cpp
  src/ops/operands.cpp
  src/ops/reduce.cpp
  src/tensor/copy.cpp
  src/tensor/create.cpp
  src/tensor/host_access.cpp
  src/tensor/launch.cpp
  src/tensor/storage.cpp
  src/tensor/tensor.cpp
  src/tensor/values.cpp
  src/trace/trace.cpp
)

if(LABRIG_HAVE_CUDA)
  list(APPEND LABRIG_CORE_SOURCES backends/cuda/loader.cpp)
else()
  list(APPEND LABRIG_CORE_SOURCES backends/no_cuda/no_cuda.cpp)
endif()
