// Blocks of rows come from pinned memory on a stream of their own while the block before is multiplied on the main one:
// two buffers, so that a copy waits only for the product that read the same buffer two blocks ago.
#include <array>
#include <cmath>

#include "app/workload/cases/case.h"
#include "app/workload/gpu/operators.h"
#include "app/workload/gpu/ranges.h"

namespace gapscope::workload {
namespace {

constexpr int kBlocks = 6;
constexpr int kBuffers = 2;

struct PinnedFree {
  void operator()(void* memory) const { cudaFreeHost(memory); }
};
using PinnedMemory = std::unique_ptr<void, PinnedFree>;

PinnedMemory allocate_pinned(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMallocHost(&memory, bytes), "cudaMallocHost");
  return PinnedMemory(memory);
}

class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// A point on one stream that another waits for. One that was never recorded delays nothing.
class Point {
 public:
  Point() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags"); }
  ~Point() { cudaEventDestroy(event_); }
  Point(const Point&) = delete;
  Point& operator=(const Point&) = delete;
  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "cudaEventRecord"); }
  void hold(cudaStream_t stream) { check(cudaStreamWaitEvent(stream, event_, 0), "cudaStreamWaitEvent"); }

 private:
  cudaEvent_t event_ = nullptr;
};

// One block of rows on its way: where it is on the CPU, and its product on the GPU.
struct Block {
  PinnedMemory rows;
  Tensor result;
};

struct Buffer {
  Tensor rows;
  Point filled, read;
};

class Streams : public Case {
 public:
  explicit Streams(const Options& options)
      : shape_{options.size, options.size},
        w_(random_tensor(shape_, options.dtype, 1, 1 / std::sqrt(static_cast<double>(options.size)))),
        buffers_{Buffer{Tensor(shape_, options.dtype), {}, {}}, Buffer{Tensor(shape_, options.dtype), {}, {}}} {
    for (unsigned i = 0; i < kBlocks; ++i) blocks_[i] = new_block(options.dtype, 2 + i);
  }

  void step(Device& device) override {
    for (int i = 0; i < kBlocks; ++i) {
      Buffer& buffer = buffers_[static_cast<std::size_t>(i % kBuffers)];
      copy(*blocks_[static_cast<std::size_t>(i)], buffer);
      buffer.filled.hold(device.stream());
      aten::matmul(device, buffer.rows, w_, blocks_[static_cast<std::size_t>(i)]->result);
      buffer.read.record(device.stream());
    }
  }

  std::vector<Comparison> compare(Device&) override {
    std::vector<Comparison> comparisons;
    const Matrix w = download(w_);
    for (const auto& block : blocks_) {
      Matrix rows{shape_[0], shape_[1], std::vector<double>(static_cast<std::size_t>(element_count(shape_)))};
      decode(block->rows.get(), element_count(shape_), w_.dtype(), rows.values.data());
      comparisons.push_back({"a block of rows @ w", download(block->result), product(rows, w), {1, shape_[1]}});
    }
    return comparisons;
  }

 private:
  std::unique_ptr<Block> new_block(Dtype dtype, unsigned seed) const {
    const Matrix values = random_matrix(shape_, seed, 1);
    Tensor result(shape_, dtype);
    PinnedMemory rows = allocate_pinned(result.bytes());
    encode(values.values.data(), result.count(), dtype, rows.get());
    return std::make_unique<Block>(Block{std::move(rows), std::move(result)});
  }

  void copy(const Block& block, Buffer& buffer) {
    buffer.read.hold(copies_.get());
    const OperatorInput input = buffer.rows.input();
    const Operator range("aten::copy_", {input, input, scalar_input()});
    check(cudaMemcpyAsync(buffer.rows.data(), block.rows.get(), buffer.rows.bytes(), cudaMemcpyHostToDevice, copies_.get()),
          "cudaMemcpyAsync");
    buffer.filled.record(copies_.get());
  }

  Shape shape_;
  Stream copies_;
  Tensor w_;
  std::array<Buffer, kBuffers> buffers_;
  std::array<std::unique_ptr<Block>, kBlocks> blocks_;
};

}  // namespace

std::unique_ptr<Case> make_streams(const Options& options) { return std::make_unique<Streams>(options); }

}  // namespace gapscope::workload
