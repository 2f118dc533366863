#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

#include "core/base/temporary_file.h"

namespace gapscope {

int rename_unless_taken(int folder, const char* from, const char* to) {
  if (::renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP) return errno;
  // The file system does not know how. Most of those (NFS) make links, which never replace anything.
  if (::linkat(folder, from, folder, to, 0) == 0) return ::unlinkat(folder, from, 0) == 0 ? 0 : errno;
  if (errno == EEXIST) return EEXIST;
  const int claim = ::openat(folder, to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (claim < 0) return errno;
  ::close(claim);
  if (::renameat(folder, from, folder, to) == 0) return 0;
  const int why = errno;
  ::unlinkat(folder, to, 0);
  return why;
}

}  // namespace gapscope
