#include "app/jobs/latest_job.h"

#include <doctest/doctest.h>

#include <chrono>
#include <new>
#include <semaphore>
#include <vector>

using gapscope::LatestJob;

TEST_CASE("an answer comes once") {
  std::binary_semaphore woken{0};
  LatestJob<int, int> job(
      "square", [](const int& n) { return n * n; }, [&] { woken.release(); });
  CHECK_FALSE(job.take());
  job.ask(7);
  woken.acquire();
  CHECK(job.take() == 49);
  CHECK_FALSE(job.take());
}

TEST_CASE("a job is at work from the question until its answer, or why there is none, is taken") {
  std::binary_semaphore started{0}, go_on{0}, woken{0};
  LatestJob<int, int> job(
      "wait",
      [&](const int& n) {
        started.release();
        go_on.acquire();
        return n < 0 ? throw std::bad_alloc() : n;
      },
      [&] { woken.release(); });
  CHECK_FALSE(job.is_at_work());
  for (const int question : {1, -1}) {
    job.ask(question);
    CHECK(job.is_at_work());
    started.acquire();
    CHECK(job.is_at_work());
    go_on.release();
    woken.acquire();
    CHECK(job.is_at_work());
    CHECK(job.take().has_value() == (question > 0));
    CHECK(job.take_trouble().has_value() == (question < 0));
    CHECK_FALSE(job.is_at_work());
  }
}

TEST_CASE("questions overtaken before their turn are never worked on, and only the last is answered") {
  std::binary_semaphore started{0}, go_on{0}, woken{0};
  std::vector<int> worked;
  LatestJob<int, int> job(
      "wait",
      [&](const int& n) {
        worked.push_back(n);
        started.release();
        go_on.acquire();
        return n;
      },
      [&] { woken.release(); });
  job.ask(1);
  started.acquire();
  job.ask(2);
  job.ask(3);
  go_on.release();
  started.acquire();
  go_on.release();
  woken.acquire();
  CHECK(worked == std::vector<int>{1, 3});
  CHECK(job.take() == 3);
}
