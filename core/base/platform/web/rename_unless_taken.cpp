#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

#include "core/base/temporary_file.h"

namespace gapscope {

// The files of a page are its own: no other process takes the name meanwhile.
int rename_unless_taken(int folder, const char* from, const char* to) {
  if (::faccessat(folder, to, F_OK, 0) == 0) return EEXIST;
  return ::renameat(folder, from, folder, to) == 0 ? 0 : errno;
}

}  // namespace gapscope
