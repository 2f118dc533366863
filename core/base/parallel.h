#pragma once
// The only place that creates threads. Work is handed out in order. Results must not depend on which threads do it, or how
// many: if thread creation fails, the existing threads do all the work. Exceptions: see failure.h.
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

namespace gapscope {

// As many processors as this process may use (taskset, Slurm), at least one.
int hardware_threads();

// Calls body(i) for every i in [0, n) from up to `threads` threads (the caller is one of them) and waits for all.
// Lower i start earlier. After an exception no further i starts, and it is thrown again here when all have stopped.
void parallel_for(int threads, std::size_t n, const std::function<void(std::size_t)>& body);

// Runs `body(worker)` for worker in [0, threads), or for fewer, worker 0 on the calling thread, and waits for all. An exception
// is thrown again here.
void run_workers(int threads, const std::function<void(int)>& body);

// Starts `work` on a thread of its own, or does it now; the future gives its result, or throws what it threw.
template <class Work>
auto start(Work work) {
  using Got = std::invoke_result_t<Work&>;
  const auto shared = std::make_shared<Work>(std::move(work));
  const auto call = [shared]() -> Got { return (*shared)(); };
  try {
    return std::async(std::launch::async, call);
  } catch (const std::system_error&) {
    std::packaged_task<Got()> here(call);
    std::future<Got> done = here.get_future();
    here();
    return done;
  }
}

namespace detail {

// What a thread begins with: `failed()` is called in the catch block.
template <class Body, class Failed>
void run_guarded(Body& body, Failed& failed, const std::stop_token& stop) noexcept {
  static_assert(std::is_nothrow_invocable_v<Failed&>, "an exception ends here");
  try {
    if constexpr (std::is_invocable_v<Body&, std::stop_token>) {
      body(stop);
    } else {
      body();
    }
  } catch (...) {
    failed();
  }
}

}  // namespace detail

// A thread that is asked to stop and joined when it is destroyed: for work that ends soon after a request. Throws
// std::system_error where no thread is available. `failed()` is called on the thread with what body() or body(stop_token)
// threw, as current_failure() takes it.
class Thread {
 public:
  Thread() = default;
  template <class Body, class Failed>
  Thread(Body body, Failed failed)
      : thread_([body = std::move(body), failed = std::move(failed)](const std::stop_token& stop) mutable {
          detail::run_guarded(body, failed, stop);
        }) {}

  void request_stop() { thread_.request_stop(); }
  bool joinable() const { return thread_.joinable(); }
  void join() { thread_.join(); }
  auto native_handle() { return thread_.native_handle(); }

 private:
  std::jthread thread_;
};

// A thread for work that may block forever: a file system that no longer answers, for example. It is asked to stop and
// waited for, but not for long; then it is left behind, and so everything that `body` and `failed` use must belong to them.
// To end several, ask all of them to stop first: the wait counts from there.
class LooseThread {
 public:
  static constexpr std::chrono::milliseconds kPatience{150};

  LooseThread() = default;
  template <class Body, class Failed>
  LooseThread(Body body, Failed failed) : end_(std::make_shared<End>()) {
    thread_ =
        std::jthread([end = end_, body = std::move(body), failed = std::move(failed)](const std::stop_token& stop) mutable {
          detail::run_guarded(body, failed, stop);
          end->announce();
        });
  }
  LooseThread(LooseThread&&) = default;
  LooseThread& operator=(LooseThread&&) = delete;
  ~LooseThread();

  void request_stop();
  bool joinable() const { return thread_.joinable(); }
  // How many were left behind and have not ended since. As long as there are any, the program may only end by std::_Exit.
  static int left_behind();

 private:
  struct End {
    std::mutex mutex;
    std::condition_variable changed;
    bool is_over = false;
    bool is_left = false;
    void announce() noexcept;
  };
  std::shared_ptr<End> end_;
  std::chrono::steady_clock::time_point told_{};
  std::jthread thread_;
};

}  // namespace gapscope
