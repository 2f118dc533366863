#include "core/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

namespace gapscope {
namespace {

std::atomic<int> left{0};

}  // namespace

void run_workers(int threads, const std::function<void(int)>& body) {
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto guarded = [&](int worker) noexcept {
    try {
      body(worker);
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (int worker = 1; worker < threads; ++worker) others.emplace_back([&guarded, worker] { guarded(worker); });
    } catch (...) {
      // Those that are there do the work.
    }
    guarded(0);
  }
  if (failure) std::rethrow_exception(failure);
}

void parallel_for(int threads, std::size_t n, const std::function<void(std::size_t)>& body) {
  std::atomic<std::size_t> next{0};
  const int workers = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(std::max(1, threads)), n));
  run_workers(std::max(1, workers), [&](int) {
    try {
      for (std::size_t i = next++; i < n; i = next++) body(i);
    } catch (...) {
      next = n;
      throw;
    }
  });
}

void LooseThread::End::announce() noexcept {
  const std::lock_guard lock(mutex);
  is_over = true;
  if (is_left) --left;
  changed.notify_all();
}

void LooseThread::request_stop() {
  if (told_ == std::chrono::steady_clock::time_point{}) told_ = std::chrono::steady_clock::now();
  thread_.request_stop();
}

LooseThread::~LooseThread() {
  if (!thread_.joinable()) return;
  request_stop();
  {
    std::unique_lock lock(end_->mutex);
    if (!end_->changed.wait_until(lock, told_ + kPatience, [&] { return end_->is_over; })) {
      end_->is_left = true;
      ++left;
    }
  }
  if (end_->is_left) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

int LooseThread::left_behind() { return left.load(); }

}  // namespace gapscope
