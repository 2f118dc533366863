// What a kernel says of its collective, from the file to numbers.
#include <doctest/doctest.h>

#include "core/ranks/collective.h"
#include "tests/support/load_text.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

constexpr const char* kArgs =
    R"("Collective name": "_allgather_base", "In msg nelems": 10, "Out msg nelems": 40, "Group size": 4, "dtype": "BFloat16", "In split size": "[]",)"
    R"( "Out split size": "[]", "Process Group Name": "3", "Process Group Description": "mesh_tp", "Process Group Ranks": "[0, 2, 4, 6]", "Seq": 17)";

std::string kernel(const std::string& args) {
  return slice("ncclDevKernel_AllGather", "1", "2", R"(, "args": {"device": 0, "stream": 7, "correlation": 5, )" + args + "}",
               "kernel");
}

}  // namespace

TEST_CASE("a kernel's collective is kept as its file has it, and an operator's name as before") {
  const auto trace =
      load_text(events(kernel(kArgs) + "," + slice("record_param_comms", "1", "2", R"(, "args": {"Collective name": "send"})") +
                       "," + kernel(R"("x": 1)")));
  REQUIRE(trace->ops.size() == 2);
  for (const OpRow& row : trace->ops) {
    const bool on_gpu = trace->kind(row.slice) == Kind::kernel;
    CHECK(trace->strings[on_gpu ? row.collective_args : row.collective] == (on_gpu ? kArgs : "send"));
  }
}

TEST_CASE("a collective's args are read, whatever their types") {
  const auto read = parse_collective(kArgs);
  REQUIRE(read);
  CHECK(read->seq == 17);
  const CollectiveWhat& w = read->what;
  CHECK(w.type == CollectiveType::all_gather);
  CHECK(w.name == "_allgather_base");
  CHECK(w.group == "3");
  CHECK(w.description == "mesh_tp");
  CHECK(w.member_ranks() == std::vector<std::int64_t>{0, 2, 4, 6});
  CHECK(w.in_bytes() == 20);
  CHECK(w.full_bytes() == 80);
  CHECK(w.group_size == 4);
  const auto other = parse_collective(
      R"("Collective name": "send", "Dst Rank": "3", "In msg nelems": "7", "dtype": "Odd", "Process Group Ranks": [1, 3])");
  REQUIRE(other);
  CHECK(other->what.peer == 3);
  CHECK(other->what.in_elements == 7);
  CHECK(other->what.in_bytes() == 0);
  CHECK(other->what.member_ranks() == std::vector<std::int64_t>{1, 3});
  CHECK(other->seq == -1);
}

TEST_CASE("what is no collective is none") {
  CHECK(!parse_collective(""));
  CHECK(!parse_collective(R"("Collective name": )"));
  CHECK(!parse_collective(R"("dtype": "Float")"));
  CHECK(
      parse_collective(R"("Collective name": "allreduce", "Process Group Ranks": "[0, 1, ...")")->what.member_ranks().empty());
  CHECK(parse_collective(R"("Collective name": "allreduce", "In msg nelems": -5)")->what.in_elements == 0);
}

TEST_CASE("bus bandwidth is what nccl-tests makes of the algorithm's") {
  CHECK(bus_factor(CollectiveType::all_reduce, 4) == doctest::Approx(1.5));
  CHECK(bus_factor(CollectiveType::all_gather, 4) == doctest::Approx(0.75));
  CHECK(bus_factor(CollectiveType::reduce_scatter, 2) == doctest::Approx(0.5));
  CHECK(bus_factor(CollectiveType::broadcast, 4) == 0);
  CHECK(bus_factor(CollectiveType::all_reduce, 0) == 0);
}
