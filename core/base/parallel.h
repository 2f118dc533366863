#pragma once
// The only place that makes threads for computing. Work is handed out in order; results must not depend on who does it.
#include <cstddef>
#include <functional>
#include <future>
#include <thread>
#include <utility>
#include <vector>

namespace gapscope {

// As many as the machine has, at least one.
int hardware_threads();

// Calls body(i) for every i in [0, n) from up to `threads` threads (the caller is one of them) and waits for all.
// Lower i start earlier. An exception of a body is thrown again here after all have stopped.
void parallel_for(int threads, std::size_t n, const std::function<void(std::size_t)>& body);

// Runs `body(worker)` for worker in [0, threads), worker 0 on the calling thread, and waits for all.
void run_workers(int threads, const std::function<void(int)>& body);

// Starts `work` on a thread of its own; the future gives its result (or throws what it threw).
template <class Work>
auto start(Work work) {
  return std::async(std::launch::async, std::move(work));
}

// A thread that is joined when it is destroyed.
using Thread = std::jthread;

}  // namespace gapscope
