#include "cpu_ref/base/thread_count.hpp"

#include <sched.h>

#include <cstdlib>
#include <thread>

#include "tests/support/catch.hpp"

namespace cuszi::test {

TEST_CASE("a cgroup's share stands for whole processors") {
  CHECK(processors_of_quota("200000 100000") == 2);
  CHECK(processors_of_quota("150000 100000\n") == 2);
  CHECK(processors_of_quota("1000 100000") == 1);
  CHECK(processors_of_quota("18446744073709551615 1") == 2147483647);
  for (const char* unlimited : {"max 100000", "-1 100000", "", " ", "100000", "0 100000", "1 0"}) {
    CHECK_FALSE(processors_of_quota(unlimited));
  }
}

TEST_CASE("OMP_NUM_THREADS is a count, or a list that begins with one") {
  CHECK(threads_of_variable("3") == 3);
  CHECK(threads_of_variable(" 4,2") == 4);
  CHECK(threads_of_variable("99999999999") == 2147483647);
  for (const char* none : {"", "0", "-2", "many"}) CHECK_FALSE(threads_of_variable(none));
}

TEST_CASE("a scope sets its thread's count and gives it back") {
  const int before = threads_in_use();
  CHECK(before == usable_threads());
  {
    const ThreadsScope outer(3);
    const ThreadsScope none(std::nullopt);
    CHECK(threads_in_use() == 3);
    int elsewhere = 0;
    std::jthread([&] { elsewhere = threads_in_use(); }).join();
    CHECK(elsewhere == before);
    const ThreadsScope inner(1);
    CHECK(threads_in_use() == 1);
  }
  CHECK(threads_in_use() == before);
}

TEST_CASE("a thread that may run on one processor uses one") {
  const char* const wished = std::getenv("OMP_NUM_THREADS");
  int usable = 0;
  std::jthread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0) usable = usable_threads();
  }).join();
  CHECK(usable == (wished == nullptr ? 1 : threads_of_variable(wished)));
}

}  // namespace cuszi::test
