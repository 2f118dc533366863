#include "app/cli/held_recording.h"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "app/cli/in_and_out.h"
#include "core/base/temporary_file.h"
#include "core/base/text.h"
#include "core/index/choose_crop.h"
#include "core/load/crop.h"
#include "core/load/packed_file.h"
#include "core/view/document.h"

namespace gapscope {
namespace {

// A page holds a third more, as letters. Chromium takes 2 s to show one of 85 MB.
constexpr std::uint64_t kMostHeldBytes = 64'000'000;

Result<PackedFile> packed_part(const Document& document, const std::optional<FileStamp>& stamp, Span part) {
  const TemporaryFile file(spill_folder(), 0600);
  if (file.trouble() != 0)
    return Error{fmt::format("{} cannot be written: {}. Set TMPDIR to a folder with room for that part.",
                             printable(spill_folder()), std::strerror(file.trouble()))};
  const std::string path = fmt::format("/dev/fd/{}", file.fd());
  const CropChoice choice = choose_crop(document.trace, document.links, part);
  if (const Result<CropFigures> figures = write_crop(document.trace, choice, path, {.stamp = stamp}); !figures)
    return figures.error();
  return packed_file(path, kMostHeldBytes);
}

Result<PackedFile> packed_whole(const std::string& path, const std::optional<FileStamp>& stamp) {
  Result<PackedFile> packed = packed_file(path, kMostHeldBytes);
  if (packed.ok() && stamp_of(path) != stamp)
    return Error{
        fmt::format("{} changed while it was read. Run the command again when the file is complete.", printable(path))};
  return packed;
}

}  // namespace

Result<HtmlRecording> held_recording(const Document& document, const std::optional<FileStamp>& stamp,
                                     const std::optional<Span>& part) {
  const std::string& path = document.trace.path;
  if (!stamp)
    return Error{fmt::format("{} cannot be read a second time, as the page needs. Name a file.",
                             path == "-" ? "Standard input" : printable(path))};
  Result<PackedFile> packed = part ? packed_part(document, stamp, *part) : packed_whole(path, stamp);
  if (!packed) return packed.error();
  if (packed->bytes.empty())
    return Error{fmt::format("{} is more than {} packed, the limit of a page. Include a {}part with --from and --to.",
                             part ? "That part of " + printable(path) : printable(path), format_bytes(kMostHeldBytes),
                             part ? "shorter " : "")};
  HtmlRecording out;
  out.name = std::filesystem::path(path).filename().string();
  const Span whole = document.trace.span;
  const Span seen = part ? intersect(*part, whole) : whole;
  out.about = part ? fmt::format("The recording from {} to {}", format_duration(seen.begin - whole.begin),
                                 format_duration(seen.end - whole.begin))
                   : "The whole recording";
  out.is_whole = !part;
  if (part) out.name = before_ending(out.name, ".part");
  if (!packed->is_as_it_was && !out.name.ends_with(".gz")) out.name += ".gz";
  out.packed = std::move(packed->bytes);
  return out;
}

}  // namespace gapscope
