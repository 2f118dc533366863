#include "ui/widgets/drawn_text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace gapscope {
namespace {

constexpr float kSlack = 0.75f;    // px that an edge may take from a letter: its anti-aliased rim
constexpr float kPenSlack = 1.5f;  // px between where a letter is expected and where it is: pens are rounded
constexpr int kMostSpaces = 3;     // between two words of one text
constexpr float kLeastCover = 6;   // px: what is smaller covers no text

// Which glyph is at a pixel of the atlas.
class GlyphMap {
 public:
  struct Entry {
    const ImFont* font = nullptr;
    const ImFontGlyph* glyph = nullptr;
  };

  explicit GlyphMap(const ImFontAtlas& atlas) : width_(atlas.TexWidth), height_(atlas.TexHeight) {
    at_.resize(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_), 0);
    for (const ImFont* font : atlas.Fonts) {
      for (const ImFontGlyph& glyph : font->Glyphs) {
        if (!glyph.Visible) continue;
        entries_.push_back({font, &glyph});
        const int x0 = pixel(glyph.U0, width_), x1 = pixel(glyph.U1, width_), y0 = pixel(glyph.V0, height_),
                  y1 = pixel(glyph.V1, height_);
        for (int y = y0; y < y1; ++y)
          for (int x = x0; x < x1; ++x) at_[index(x, y)] = static_cast<std::uint32_t>(entries_.size());
      }
    }
  }
  Entry at(float u, float v) const {
    const int x = static_cast<int>(u * static_cast<float>(width_)), y = static_cast<int>(v * static_cast<float>(height_));
    if (x < 0 || y < 0 || x >= width_ || y >= height_) return {};
    const std::uint32_t entry = at_[index(x, y)];
    return entry == 0 ? Entry{} : entries_[entry - 1];
  }

 private:
  static int pixel(float share, int size) {
    return std::clamp(static_cast<int>(std::lround(share * static_cast<float>(size))), 0, size);
  }
  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x);
  }

  int width_, height_;
  std::vector<std::uint32_t> at_;  // position in entries_ plus one; 0 where no glyph is
  std::vector<Entry> entries_;
};

void append_utf8(std::string& text, unsigned code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | code >> 6);
    text += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    text += static_cast<char>(0xE0 | code >> 12);
    text += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    text += static_cast<char>(0x80 | (code & 0x3F));
  }
}

Box both(const Box& a, const Box& b) {
  return {std::max(a.x0, b.x0), std::max(a.y0, b.y0), std::min(a.x1, b.x1), std::min(a.y1, b.y1)};
}
bool contains(const Box& outer, const Box& box) {
  return outer.x0 <= box.x0 && outer.y0 <= box.y0 && box.x1 <= outer.x1 && box.y1 <= outer.y1;
}
bool same(const Box& a, const Box& b) { return a.x0 == b.x0 && a.y0 == b.y0 && a.x1 == b.x1 && a.y1 == b.y1; }

// Not the rim of a shape, which fades out.
bool of_one_colour(std::span<const ImDrawIdx> triangle, const ImDrawVert* vertices) {
  return vertices[triangle[0]].col == vertices[triangle[1]].col && vertices[triangle[0]].col == vertices[triangle[2]].col;
}

// One glyph as it was drawn: where its pen was, and on which line.
struct Letter {
  GlyphMap::Entry entry;
  float size = 0;  // of the line
  ImVec2 pen;      // left end of the glyph's room, top of its line
  float advance = 0;
  bool cut = false, sideways = false;
  ImU32 ink = 0;
};

Rgb rgb_of_drawn(ImU32 colour) {
  return {static_cast<std::uint8_t>(colour >> IM_COL32_R_SHIFT), static_cast<std::uint8_t>(colour >> IM_COL32_G_SHIFT),
          static_cast<std::uint8_t>(colour >> IM_COL32_B_SHIFT)};
}
Rgb laid_over(Rgb ground, ImU32 colour) {
  return blend(ground, rgb_of_drawn(colour), static_cast<float>(colour >> IM_COL32_A_SHIFT) / 255);
}

class Reader {
 public:
  Reader(const ImDrawData& data, const ImFontAtlas& atlas, bool with_grounds)
      : glyphs_(atlas),
        with_grounds_(with_grounds),
        window_{data.DisplayPos.x, data.DisplayPos.y, data.DisplayPos.x + data.DisplaySize.x,
                data.DisplayPos.y + data.DisplaySize.y} {
    for (int i = 0; i < data.CmdListsCount; ++i) read(*data.CmdLists[i]);
    finish();
  }
  std::vector<DrawnText> take() { return std::move(texts_); }

 private:
  void read(const ImDrawList& list) {
    for (const ImDrawCmd& command : list.CmdBuffer) {
      finish();
      if (command.UserCallback || command.ElemCount < 3) continue;
      clip_ = both({command.ClipRect.x, command.ClipRect.y, command.ClipRect.z, command.ClipRect.w}, window_);
      const std::span<const ImDrawIdx> indices(list.IdxBuffer.Data + command.IdxOffset, command.ElemCount);
      const ImDrawVert* vertices = list.VtxBuffer.Data + command.VtxOffset;
      // Triangles about one corner are one shape: a letter, a rectangle, a rounded one.
      for (std::size_t first = 0; first + 2 < indices.size();) {
        std::size_t last = first + 3;
        while (last + 2 < indices.size() && indices[last] == indices[first] &&
               of_one_colour(indices.subspan(last, 3), vertices))
          last += 3;
        read_shape(indices.subspan(first, last - first), vertices);
        first = last;
      }
    }
  }

  void read_shape(std::span<const ImDrawIdx> indices, const ImDrawVert* vertices) {
    ++drawn_;
    const ImDrawVert& corner = vertices[indices[0]];
    Box box{corner.pos.x, corner.pos.y, corner.pos.x, corner.pos.y}, uv{corner.uv.x, corner.uv.y, corner.uv.x, corner.uv.y};
    bool opaque = true, plain = true;
    for (const ImDrawIdx index : indices) {
      const ImDrawVert& v = vertices[index];
      box = {std::min(box.x0, v.pos.x), std::min(box.y0, v.pos.y), std::max(box.x1, v.pos.x), std::max(box.y1, v.pos.y)};
      uv = {std::min(uv.x0, v.uv.x), std::min(uv.y0, v.uv.y), std::max(uv.x1, v.uv.x), std::max(uv.y1, v.uv.y)};
      opaque = opaque && (v.col >> IM_COL32_A_SHIFT) == 0xFF;
      plain = plain && v.col == corner.col;
    }
    const GlyphMap::Entry entry =
        indices.size() == 6 && uv.width() > 0 ? glyphs_.at((uv.x0 + uv.x1) / 2, (uv.y0 + uv.y1) / 2) : GlyphMap::Entry{};
    const bool fills = !entry.glyph && plain && uv.width() == 0 && indices.size() >= 6;
    if (with_grounds_ && fills && box.width() >= kLeastCover && box.height() >= kLeastCover) fill(both(box, clip_), corner.col);
    if (entry.glyph)
      add(letter(entry, box, uv, corner.col));
    else if (opaque && uv.width() == 0 && box.width() >= kLeastCover && box.height() >= kLeastCover && indices.size() >= 6)
      cover(both(box, clip_));
  }

  Letter letter(const GlyphMap::Entry& entry, const Box& box, const Box& uv, ImU32 ink) const {
    const ImFontGlyph& glyph = *entry.glyph;
    const float scale = box.height() / std::max(1e-3f, (uv.y1 - uv.y0) / (glyph.V1 - glyph.V0) * (glyph.Y1 - glyph.Y0));
    // A letter may be cut by its corners as well as by the clip rectangle.
    const float left = (uv.x0 - glyph.U0) / (glyph.U1 - glyph.U0) * (glyph.X1 - glyph.X0) * scale;
    const float top = (uv.y0 - glyph.V0) / (glyph.V1 - glyph.V0) * (glyph.Y1 - glyph.Y0) * scale;
    const Box whole{box.x0 - left, box.y0 - top, box.x0 - left + (glyph.X1 - glyph.X0) * scale,
                    box.y0 - top + (glyph.Y1 - glyph.Y0) * scale};
    const Box seen = both(box, clip_);
    const bool sideways = seen.x0 > whole.x0 + kSlack || seen.x1 < whole.x1 - kSlack;
    const bool cut = sideways || seen.y0 > whole.y0 + kSlack || seen.y1 < whole.y1 - kSlack;
    return {entry,
            entry.font->FontSize * scale,
            {whole.x0 - glyph.X0 * scale, whole.y0 - glyph.Y0 * scale},
            glyph.AdvanceX * scale,
            cut,
            sideways,
            ink};
  }

  void add(const Letter& l) {
    const Box box = both({l.pen.x, l.pen.y, l.pen.x + l.advance, l.pen.y + l.size}, clip_);
    if (box.width() <= 0 || box.height() <= 0) return;
    int spaces = 0;
    if (!follows(l, spaces)) {
      finish();
      now_ = {"", box};
      now_.drawn = drawn_;
      spaces = 0;
    }
    if (with_grounds_) hold_against_ground(l, box);
    now_.text.append(static_cast<std::size_t>(spaces), ' ');
    append_utf8(now_.text, l.entry.glyph->Codepoint);
    now_.box = {std::min(now_.box.x0, box.x0), std::min(now_.box.y0, box.y0), std::max(now_.box.x1, box.x1),
                std::max(now_.box.y1, box.y1)};
    now_.clipped = now_.clipped || l.cut;
    now_.sideways = now_.sideways || l.sideways;
    last_ = l;
    last_clip_ = clip_;
  }

  void fill(const Box& box, ImU32 ink) {
    finish();
    fills_.push_back({box, ink});
    // What is over a text changes both of its colours.
    for (DrawnText& text : texts_) {
      const float x = (text.box.x0 + text.box.x1) / 2, y = (text.box.y0 + text.box.y1) / 2;
      if (!(box.x0 <= x && x < box.x1 && box.y0 <= y && y < box.y1)) continue;
      text.ink = laid_over(text.ink, ink);
      text.ground = laid_over(text.ground, ink);
    }
  }

  // What is below the middle of the letter; the worst of the text counts.
  void hold_against_ground(const Letter& l, const Box& box) {
    const float x = (box.x0 + box.x1) / 2, y = (box.y0 + box.y1) / 2;
    Rgb ground{};
    for (const Fill& fill : fills_)
      if (fill.box.x0 <= x && x < fill.box.x1 && fill.box.y0 <= y && y < fill.box.y1) ground = laid_over(ground, fill.colour);
    const Rgb ink = laid_over(ground, l.ink);
    if (!now_.text.empty() && contrast(ink, ground) >= contrast(now_.ink, now_.ground)) return;
    now_.ink = ink;
    now_.ground = ground;
  }

  // The letter is put on the text, after so many spaces.
  bool follows(const Letter& l, int& spaces) const {
    if (now_.text.empty() || l.entry.font != last_.entry.font || l.ink != last_.ink || !same(clip_, last_clip_)) return false;
    if (std::abs(l.pen.y - last_.pen.y) > kPenSlack || std::abs(l.size - last_.size) > 1) return false;
    const float space = l.entry.font->GetCharAdvance(' ') * l.size / l.entry.font->FontSize;
    const float gap = l.pen.x - last_.pen.x - last_.advance;
    spaces = space > 0 ? static_cast<int>(std::lround(gap / space)) : 0;
    return spaces >= 0 && spaces <= kMostSpaces && std::abs(gap - static_cast<float>(spaces) * space) <= kPenSlack;
  }

  void finish() {
    if (now_.text.empty()) return;
    const auto holds = [&](const Plate& plate) { return plate.drawn < now_.drawn && contains(plate.box, now_.box); };
    if (const auto plate = std::find_if(plates_.rbegin(), plates_.rend(), holds); plate != plates_.rend())
      now_.plate = plate->drawn;
    texts_.push_back(std::move(now_));
    now_ = {};
  }

  void cover(const Box& box) {
    if (box.width() < kLeastCover || box.height() < kLeastCover) return;
    finish();
    std::erase_if(texts_, [&](const DrawnText& t) { return contains(box, t.box); });
    plates_.push_back({box, drawn_});
  }

  struct Fill {
    Box box;
    ImU32 colour;
  };
  GlyphMap glyphs_;
  bool with_grounds_ = false;
  std::vector<Fill> fills_;  // in the order of drawing
  Box window_, clip_, last_clip_;
  Letter last_;
  DrawnText now_;
  struct Plate {
    Box box;
    std::uint32_t drawn = 0;
  };
  std::vector<Plate> plates_;
  std::uint32_t drawn_ = 0;
  std::vector<DrawnText> texts_;
};

}  // namespace

std::vector<DrawnText> drawn_texts(const ImDrawData& data, const ImFontAtlas& atlas, bool with_grounds) {
  return Reader(data, atlas, with_grounds).take();
}

}  // namespace gapscope
