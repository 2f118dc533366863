#pragma once
// `gapscope --answer TRACE...`: the traces are loaded once, then each request on standard input is a command of this program
// over them, run in a process forked for it. For the Python package (app/python), which is why no help names it.
//
// Little endian. A request: u32 bytes, then the command's words, each with a NUL behind it. A request of 0 bytes ends the one
// that runs. An answer, in the order of the requests: i32 the exit code (below 0: the signal that ended it), u32 1 where it was
// ended by a request, u64 bytes of its standard output, u64 of its standard error, then both. The first answer is of the load:
// exit code, what failed, and the path of each trace with a NUL behind it, of a folder of ranks its lowest one.
#include <string>
#include <vector>

namespace gapscope {

// `words`: files and folders, and of captures `--capture FILE`. Serves until input ends. The exit code.
int run_answers(const std::vector<std::string>& words);

}  // namespace gapscope
