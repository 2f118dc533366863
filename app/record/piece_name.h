#pragma once
// Names of recordings. While one is written its file is called "NAME.RUN.HOST.PID.START[.rankN].partial": no two processes,
// runs or machines share one, so that any number of them write into one folder. The name asked for is taken when it is whole.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gapscope {

struct PieceOwner {
  std::string run;   // of `gapscope record`, see new_run
  std::string host;  // letters, digits, - and _; what else is in the machine's name became _
  std::int64_t process = 0;
  std::int64_t start = 0;  // ns of the system clock
  std::int64_t rank = -1;  // in its job; -1: none
};

struct Piece {
  std::string path;
  std::string name;  // asked for; its end is cut off where all would be too long for a file's name
  PieceOwner owner;
};

// A word that no other run has.
std::string new_run();
// Which of a job's processes this is, as its launcher (torchrun, mpirun, srun) says in the environment. A job of one has no
// ranks.
struct JobPlace {
  std::int64_t rank = -1;  // -1: none
  std::int64_t size = -1;  // processes of the job; -1: not said
};
JobPlace place_in_job();
// "a/r_rank3.json.gz" of "a/r.json.gz"; as it is where there is no rank.
std::string path_of_rank(const std::string& path, std::int64_t rank);
std::string host_name();
PieceOwner this_process(const std::string& run);

// In the folder of `path`. `attempt`: another name each.
std::string piece_path(const std::string& path, const PieceOwner& owner, int attempt);
// None for what is no piece's file name.
std::optional<Piece> read_piece_name(std::string_view file_name);
// Those in the folder of `path`, by rank, then by process; none where it cannot be read.
std::vector<Piece> pieces_beside(const std::string& path);

}  // namespace gapscope
