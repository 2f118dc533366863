#include "app/record/piece_name.h"

#include <doctest/doctest.h>

#include <limits.h>

#include <cstdlib>
#include <list>
#include <set>

#include "tests/support/process_state.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;

TEST_CASE("a piece's name says whose it is, and is read back") {
  const PieceOwner owner{"0123abcd", "node-7", 4711, 1'795'304'481'614'840'257, 3};
  const std::string path = piece_path("/a/b.json.gz", owner, 0);
  CHECK(path == "/a/b.json.gz.0123abcd.node-7.4711.1795304481614840257.rank3.partial");
  const auto piece = read_piece_name(path.substr(3));
  REQUIRE(piece);
  CHECK(piece->name == "b.json.gz");
  CHECK(piece->owner.run == "0123abcd");
  CHECK(piece->owner.host == "node-7");
  CHECK(piece->owner.process == 4711);
  CHECK(piece->owner.start == 1'795'304'481'614'840'257);
  CHECK(piece->owner.rank == 3);
  CHECK(piece_path("b.json", {"r", "h", 1, 2, -1}, 0) == "b.json.r.h.1.2.partial");
  CHECK(read_piece_name("b.json.r.h.1.2.partial")->owner.rank == -1);
}

TEST_CASE("what is no piece's name is none") {
  for (const char* name :
       {"", ".partial", "a.json.gz.partial", "a.r.h.1.2", "a.r.h.1.x.partial", "a.r.h.-1.2.partial", ".r.h.1.2.partial",
        "a.r.h.1.2.rankx.partial", "a.r..1.2.partial", "a.r.h.1.99999999999999999999.partial"})
    CHECK_MESSAGE(!read_piece_name(name), name);
}

TEST_CASE("a long name is cut to what a file system takes") {
  const PieceOwner owner = this_process(new_run());
  for (const std::size_t length : {100u, 200u, 250u, 255u, 300u}) {
    const std::string name = piece_path("/tmp/" + std::string(length, 'x'), owner, 0).substr(5);
    CHECK(name.size() <= NAME_MAX);
    REQUIRE(read_piece_name(name));
    CHECK(read_piece_name(name)->owner.run == owner.run);
  }
}

TEST_CASE("no two runs, processes or attempts have one name") {
  std::set<std::string> names;
  for (int run = 0; run < 100; ++run) {
    const PieceOwner owner = this_process(new_run());
    for (int attempt = 0; attempt < 3; ++attempt) names.insert(piece_path("a.json", owner, attempt));
  }
  names.insert(piece_path("a.json", {"r", "h", 1, 5, -1}, 0));
  names.insert(piece_path("a.json", {"r", "h", 2, 5, -1}, 0));
  names.insert(piece_path("a.json", {"r", "g", 1, 5, -1}, 0));
  names.insert(piece_path("a.json", {"r", "h", 1, 5, 0}, 0));
  CHECK(names.size() == 304);
}

TEST_CASE("the place in the job is the launcher's word: torchrun's, Open MPI's, MPICH's, Slurm's") {
  std::list<test::SetVariable> variables;
  for (const char* name : {"RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE",
                           "SLURM_PROCID", "SLURM_NTASKS", "LOCAL_RANK", "LOCAL_WORLD_SIZE"})
    variables.emplace_back(name);
  const auto says = [](std::int64_t rank, std::int64_t size) {
    const JobPlace place = place_in_job();
    return place.rank == rank && place.size == size;
  };
  CHECK(says(-1, -1));
  setenv("LOCAL_RANK", "1", 1);
  CHECK(says(1, -1));
  setenv("SLURM_PROCID", "2", 1);
  setenv("SLURM_NTASKS", "16", 1);
  CHECK(says(2, 16));
  setenv("PMI_RANK", "5", 1);
  CHECK(says(5, -1));
  setenv("OMPI_COMM_WORLD_RANK", "3", 1);
  setenv("OMPI_COMM_WORLD_SIZE", "8", 1);
  CHECK(says(3, 8));
  setenv("RANK", "4", 1);
  CHECK(says(4, -1));
  setenv("RANK", "../../x", 1);
  CHECK(says(3, 8));
  // A job of one process has no ranks: its recording keeps the name that was asked for.
  setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
  CHECK(says(-1, -1));
}

TEST_CASE("a rank's recording has the rank in its name, before the endings") {
  CHECK(path_of_rank("/a.b/r.json.gz", 3) == "/a.b/r_rank3.json.gz");
  CHECK(path_of_rank("r.json", 12) == "r_rank12.json");
  CHECK(path_of_rank("r", 0) == "r_rank0");
  CHECK(path_of_rank("r.json", -1) == "r.json");
}

TEST_CASE("pieces are found next to the recording, by rank") {
  const test::TempFolder folder;
  for (const char* name :
       {"a.json.r.h.9.2.rank10.partial", "a.json.r.h.8.2.rank2.partial", "b.json.q.h.7.2.partial", "a.json", "notes.partial"})
    folder.write(name, "x");
  std::string text;
  for (const Piece& piece : pieces_beside((folder.path() / "a.json").string())) {
    text += piece.name + " " + std::to_string(piece.owner.rank) + "; ";
    CHECK(std::filesystem::exists(piece.path));
  }
  CHECK(text == "b.json -1; a.json 2; a.json 10; ");
  CHECK(pieces_beside("/nonexistent/a.json").empty());
}
