#pragma once
// The files inside a .zip or .tar, read through libarchive and never written to disk. A member is named by a path below the
// archive's own, "runs.zip/rank0.json": such a path opens wherever a file's does, and never means a file on disk.
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/load/byte_source.h"

namespace gapscope {

// Traces among the members, by their names, in order; where none is called like one, the only member. An Error, a sentence
// about "The file", where there is none, or where the archive is damaged, encrypted or holds too many members.
// `archive`: a .tar, or a .zip that can seek.
Result<std::vector<std::string>> traces_in_archive(std::unique_ptr<ByteSource> archive);

// The bytes of one member, as they are in it. Names have neither "." nor ".." in them and do not begin with "/".
Result<std::unique_ptr<ByteSource>> make_member_source(std::unique_ptr<ByteSource> archive, const std::string& name);

// As open_source(), for the first bytes alone: an Error where the file would be read whole before there are any.
Result<std::unique_ptr<ByteSource>> open_beginning(const std::string& path);
// As open_source(), but another profiler's recording as it is, not as the text of a trace.
Result<std::unique_ptr<ByteSource>> open_as_it_is(const std::string& path, const std::atomic<bool>* cancel);

// As paths below `path`, which is an archive or a folder inside one; empty where it is neither, or holds one trace alone.
std::vector<std::string> traces_of_archive(const std::string& path);

}  // namespace gapscope
