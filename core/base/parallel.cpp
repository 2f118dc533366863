#include "core/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

namespace gapscope {

int hardware_threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

void run_workers(int threads, const std::function<void(int)>& body) {
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto guarded = [&](int worker) {
    try {
      body(worker);
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<Thread> others;
    for (int worker = 1; worker < threads; ++worker) others.emplace_back([&guarded, worker] { guarded(worker); });
    guarded(0);
  }
  if (failure) std::rethrow_exception(failure);
}

void parallel_for(int threads, std::size_t n, const std::function<void(std::size_t)>& body) {
  std::atomic<std::size_t> next{0};
  const int workers = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(std::max(1, threads)), n));
  run_workers(std::max(1, workers), [&](int) {
    for (std::size_t i = next++; i < n; i = next++) body(i);
  });
}

}  // namespace gapscope
