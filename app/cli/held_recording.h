#pragma once
// The recording that a report holds: `gapscope overview --html --with-trace`.
#include <optional>
#include <string>

#include "core/base/file_stamp.h"
#include "core/base/result.h"
#include "core/view/overview/html.h"

namespace gapscope {

struct Document;

// Of the document's file, whose stamp just before it was loaded is `stamp`: all of it as it is, or what `gapscope crop` writes
// of `part`, packed. An Error where it is too large, has changed, or can be read once only (a pipe).
Result<HtmlRecording> held_recording(const Document& document, const std::optional<FileStamp>& stamp,
                                     const std::optional<Span>& part);

}  // namespace gapscope
