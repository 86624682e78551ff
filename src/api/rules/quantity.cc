#include "api/rules/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <boost/multiprecision/cpp_int.hpp>

#include "api/go/unicode_space.h"

namespace berth::api {
namespace {

using boost::multiprecision::cpp_int;
using Format = Quantity::Format;

constexpr std::string_view kErrFormat =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
constexpr std::string_view kErrNumeric = "unable to parse numeric part of quantity";
constexpr std::string_view kErrSuffix = "unable to parse quantity's suffix";

constexpr int32_t kNano = -9;        // finest scale an amount keeps
constexpr int kMaxSmallDigits = 18;  // always fits an int64

constexpr std::array<int64_t, 19> kPow10 = [] {
  std::array<int64_t, 19> p{1};
  for (size_t i = 1; i < p.size(); ++i) p[i] = p[i - 1] * 10;
  return p;
}();

// Arithmetic that wraps, as Go's does: exponents are 32 bits wide there, whatever the text says.
int32_t WrapAdd(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
int32_t WrapSub(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b));
}
int64_t WrapMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsSuffixLetter(char c) {
  switch (c) {
    case 'e':
    case 'E':
    case 'i':
    case 'n':
    case 'u':
    case 'm':
    case 'k':
    case 'K':
    case 'M':
    case 'G':
    case 'T':
    case 'P':
      return true;
  }
  return false;
}

cpp_int BigPow10(int n) {
  return boost::multiprecision::pow(cpp_int(10), static_cast<unsigned>(n));
}

int Digits(const cpp_int& v) {
  if (v.is_zero()) return 1;
  // log10(2) from above: never less than the true count, at most one more.
  return static_cast<int>(static_cast<double>(boost::multiprecision::msb(abs(v)) + 1) * 0.30103) +
         1;
}

// The low 64 bits of the magnitude, with the sign.
int64_t Low64(const cpp_int& v) {
  const auto low = static_cast<uint64_t>(cpp_int(abs(v) & std::numeric_limits<uint64_t>::max()));
  return static_cast<int64_t>(v.sign() < 0 ? 0 - low : low);
}

// Nearest double, ties to even.
double ToDouble(const cpp_int& v) {
  if (v.is_zero()) return 0;
  cpp_int magnitude = abs(v);
  const int bits = static_cast<int>(boost::multiprecision::msb(magnitude)) + 1;
  const int drop = std::max(0, bits - 64);
  if (drop > 0) {
    const bool sticky = static_cast<int>(boost::multiprecision::lsb(magnitude)) < drop;
    magnitude >>= static_cast<unsigned>(drop);
    if (sticky) magnitude |= 1;
  }
  const double d = std::ldexp(static_cast<double>(static_cast<uint64_t>(magnitude)), drop);
  return v.sign() < 0 ? -d : d;
}

// 10^n as a double, composed of the same two factors as Go's math.Pow10 so that the last bit
// agrees.
double DoublePow10(int64_t n) {
  static constexpr std::array<double, 32> kUnits = {1e00, 1e01, 1e02, 1e03, 1e04, 1e05, 1e06, 1e07,
                                                    1e08, 1e09, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e23,
                                                    1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31};
  static constexpr std::array<double, 10> kUp = {1e00,  1e32,  1e64,  1e96,  1e128,
                                                 1e160, 1e192, 1e224, 1e256, 1e288};
  static constexpr std::array<double, 11> kDown = {1e-00,  1e-32,  1e-64,  1e-96,  1e-128, 1e-160,
                                                   1e-192, 1e-224, 1e-256, 1e-288, 1e-320};
  if (n > 308) return std::numeric_limits<double>::infinity();
  if (n < -323) return 0;
  const auto m = static_cast<size_t>(n < 0 ? -n : n);
  return n >= 0 ? kUp[m / 32] * kUnits[m % 32] : kDown[m / 32] / kUnits[m % 32];
}

// value * 10^digits. What comes out when that does not fit depends on the number of digits, as it
// does upstream.
int64_t ScaleUp(int64_t value, int32_t digits) {
  if (value == 0 || digits <= 0) return value;
  const bool one_step = digits <= 3 || digits == 6 || digits == 9;
  int64_t result;
  if (digits <= kMaxSmallDigits &&
      !__builtin_mul_overflow(value, kPow10[static_cast<size_t>(digits)], &result)) {
    return result;
  }
  if (!one_step || value == std::numeric_limits<int64_t>::min()) return 0;
  return WrapMul(value, kPow10[static_cast<size_t>(digits)]);
}

// value / 10^digits, rounded away from zero.
int64_t ScaleDown(int64_t value, int32_t digits, bool* exact) {
  *exact = true;
  if (digits <= 0) return value;
  if (digits > kMaxSmallDigits) {
    *exact = value == 0;
    return (value > 0) - (value < 0);
  }
  const int64_t divisor = kPow10[static_cast<size_t>(digits)];
  const int64_t quotient = value / divisor;
  if (value % divisor == 0) return quotient;
  *exact = false;
  return value > 0 ? quotient + 1 : quotient - 1;
}

struct Suffix {
  int base = 10;
  int32_t exponent = 0;
  Format format = Format::kDecimalSI;
  bool canonical = true;  // printed the same way
};

std::optional<Suffix> ParseExponent(std::string_view digits, char letter) {
  const bool plus = digits.front() == '+';
  std::string_view number = digits.substr(plus ? 1 : 0);
  int64_t parsed = 0;
  const auto [end, err] = std::from_chars(number.data(), number.data() + number.size(), parsed);
  if (err != std::errc() || end != number.data() + number.size()) return std::nullopt;
  if (plus && number.front() == '-') return std::nullopt;
  Suffix s{.exponent = static_cast<int32_t>(parsed), .format = Format::kDecimalExponent};
  const std::string_view magnitude = number.substr(number.front() == '-' ? 1 : 0);
  s.canonical = letter == 'e' && !plus && magnitude.front() != '0' && s.exponent == parsed;
  return s;
}

std::optional<Suffix> ParseSuffix(std::string_view text) {
  if (text.empty()) return Suffix{};
  if (text.size() == 1) {
    switch (text[0]) {
      case 'n':
        return Suffix{.exponent = -9};
      case 'u':
        return Suffix{.exponent = -6};
      case 'm':
        return Suffix{.exponent = -3};
      case 'k':
        return Suffix{.exponent = 3};
      case 'M':
        return Suffix{.exponent = 6};
      case 'G':
        return Suffix{.exponent = 9};
      case 'T':
        return Suffix{.exponent = 12};
      case 'P':
        return Suffix{.exponent = 15};
      case 'E':
        return Suffix{.exponent = 18};
    }
    return std::nullopt;
  }
  if (text.size() == 2 && text[1] == 'i') {
    const size_t i = std::string_view("KMGTPE").find(text[0]);
    if (i == std::string_view::npos) return std::nullopt;
    return Suffix{
        .base = 2, .exponent = 10 * (static_cast<int32_t>(i) + 1), .format = Format::kBinarySI};
  }
  if (text[0] == 'e' || text[0] == 'E') return ParseExponent(text.substr(1), text[0]);
  return std::nullopt;
}

// Amounts outside of the known suffixes print without one; upstream loses them the same way.
void AppendDecimalSuffix(std::string& out, int32_t exponent, Format format) {
  if (exponent == 0) return;
  if (format == Format::kDecimalExponent) {
    out += 'e';
    out += std::to_string(exponent);
  } else if (exponent >= -9 && exponent <= 18) {
    static constexpr std::string_view kLetters = "num kMGTPE";
    out += kLetters[static_cast<size_t>((exponent + 9) / 3)];
  }
}

std::string ToText(int64_t v) { return std::to_string(v); }
std::string ToText(const cpp_int& v) { return v.str(); }

// An integer other than zero with the largest binary suffix.
template <class Int>
std::string BinaryText(Int integer) {
  int times = 0;
  for (; integer % 1024 == 0; ++times) integer /= 1024;
  std::string out = ToText(integer);
  if (times >= 1 && times <= 6) {
    out += "KMGTPE"[times - 1];
    out += 'i';
  }
  return out;
}

// Digits times 10^exponent: factors of ten go to the exponent until it is a multiple of three.
std::string DecimalText(std::string digits, int32_t exponent, Format format) {
  const size_t zeros = digits.size() - 1 - digits.find_last_not_of('0');
  digits.resize(digits.size() - zeros);
  exponent = WrapAdd(exponent, static_cast<int32_t>(zeros));
  const int32_t excess = ((exponent % 3) + 3) % 3;
  digits.append(static_cast<size_t>(excess), '0');
  AppendDecimalSuffix(digits, exponent - excess, format);
  return digits;
}

}  // namespace

// unscaled * 10^scale.
struct Quantity::Big {
  cpp_int unscaled;
  int32_t scale = 0;

  // The same amount at a lower scale.
  Big At(int32_t lower) const {
    if (unscaled.is_zero() || lower == scale) return {unscaled, lower};
    return {unscaled * BigPow10(scale - lower), lower};
  }

  // Brings both to the lower scale. False if that takes too many digits: then only the one of
  // higher scale, which goes first, counts.
  static bool Align(Big& high, Big& low) {
    const int64_t gap = int64_t{high.scale} - low.scale;
    if (!high.unscaled.is_zero() && Digits(high.unscaled) + gap > 2 * kMaxDigits) return false;
    high = high.At(low.scale);
    return true;
  }

  // Rounded away from zero to an integer.
  cpp_int Rounded(bool* exact) const {
    *exact = true;
    if (scale >= 0) return At(0).unscaled;
    cpp_int quotient, remainder;
    boost::multiprecision::divide_qr(unscaled, BigPow10(-scale), quotient, remainder);
    *exact = remainder.is_zero();
    if (!*exact) quotient += unscaled.sign();
    return quotient;
  }
};

struct Quantity::Heap {
  std::string text;
  Big big;
};

struct Quantity::Scan {
  std::string_view text;  // all of it
  std::string_view
      integer;  // digits before the point, leading zeros stripped; "0" if there are none
  std::string_view fraction;  // digits after the point
  std::string_view suffix;
  bool negative = false;
  bool has_digits = false;
  bool plain = false;  // no plus, no leading zeros, no point

  // False: the text does not have the form of a quantity.
  bool Run(std::string_view input);
};

bool Quantity::Scan::Run(std::string_view input) {
  text = input;
  const size_t end = text.size();
  size_t pos = 0;
  if (text[0] == '-' || text[0] == '+') {
    negative = text[0] == '-';
    ++pos;
  }
  plain = text[0] != '+';
  const size_t first = pos;
  while (pos < end && text[pos] == '0') ++pos;
  if (pos == end) {  // nothing but zeros: no sign, no suffix
    integer = "0";
    has_digits = true;
    negative = false;
    return true;
  }
  plain = plain && pos == first;
  const size_t significant = pos;
  while (pos < end && IsDigit(text[pos])) ++pos;
  integer = text.substr(significant, pos - significant);
  has_digits = pos > first;
  if (integer.empty()) integer = "0";
  if (pos < end && text[pos] == '.') {
    plain = false;
    const size_t point = ++pos;
    while (pos < end && IsDigit(text[pos])) ++pos;
    fraction = text.substr(point, pos - point);
    has_digits = has_digits || !fraction.empty();
  }
  const size_t suffix_start = pos;
  while (pos < end && IsSuffixLetter(text[pos])) ++pos;
  if (pos < end && (text[pos] == '-' || text[pos] == '+')) ++pos;
  while (pos < end && IsDigit(text[pos])) ++pos;
  suffix = text.substr(suffix_start);
  return pos == end;
}

Result<Quantity> Quantity::Parse(std::string_view text) {
  if (text.empty()) return Fail(std::string(kErrFormat));
  Scan scan;
  if (!scan.Run(text)) return Fail(std::string(kErrFormat));
  const std::optional<Suffix> suffix = ParseSuffix(scan.suffix);
  if (!suffix) return Fail(std::string(kErrSuffix));

  const size_t digits = scan.integer.size() + scan.fraction.size();
  const bool binary = suffix->format == Format::kBinarySI;
  int32_t scale = 0;
  bool small;
  if (binary) {
    // Upstream's estimate of what fits: a binary suffix costs three digits per step of 1024.
    small =
        scan.fraction.empty() && digits + static_cast<size_t>(suffix->exponent) * 3 / 10 + 1 <= 15;
  } else {
    small = digits <= kMaxSmallDigits;
    if (small) {
      scale = WrapSub(suffix->exponent, static_cast<int32_t>(scan.fraction.size()));
      small = scale >= kNano;
    }
  }
  if (!small) return ParseBig(scan, suffix->format, suffix->base, suffix->exponent);

  int64_t number = 0;
  for (const char c : scan.integer) number = number * 10 + (c - '0');
  for (const char c : scan.fraction) number = number * 10 + (c - '0');
  int64_t value = binary ? number << suffix->exponent : number;
  if (scan.negative) value = -value;
  Quantity q(value, scale, suffix->format);
  // Text that looks canonical is kept as it is. It really is canonical, and need not be kept, if it
  // is plain.
  if (!(scan.plain && suffix->canonical)) {
    const bool kept =
        binary ? (number & 7) != 0 : scale % 3 == 0 && number % 1000 != 0 && scan.integer[0] != '0';
    if (kept) q.Remember(text);
  }
  return q;
}

Result<Quantity> Quantity::ParseBig(const Scan& scan, Format format, int base, int32_t exponent) {
  const size_t digits = scan.integer.size() + scan.fraction.size();
  if (!scan.has_digits || digits > static_cast<size_t>(kMaxDigits))
    return Fail(std::string(kErrNumeric));
  std::string text(scan.integer);
  text += scan.fraction;
  text.erase(0, std::min(text.find_first_not_of('0'), text.size() - 1));
  Big amount{cpp_int(text), -static_cast<int32_t>(scan.fraction.size())};
  if (base == 10) {
    amount.scale = WrapAdd(amount.scale, exponent);
  } else {
    amount.unscaled <<= static_cast<unsigned>(exponent);
  }

  if (!amount.unscaled.is_zero()) {
    // Non-zero amounts are rounded up to the next nano, never to zero.
    if (amount.scale >= kNano) {
      if (Digits(amount.unscaled) + int64_t{amount.scale} - kNano > kMaxDigits) {
        return Fail(std::string(kErrNumeric));
      }
      amount = amount.At(kNano);
    } else if (int64_t{kNano} - amount.scale > Digits(amount.unscaled)) {
      amount = {1, kNano};
    } else {
      bool exact;
      amount = {Big{amount.unscaled, amount.scale - kNano}.Rounded(&exact), kNano};
    }
  }
  if (format == Format::kBinarySI) {
    static const cpp_int kOne = BigPow10(-kNano);
    static const cpp_int kMax = kOne * std::numeric_limits<int64_t>::max();
    if (amount.unscaled > kMax) amount = {std::numeric_limits<int64_t>::max(), 0};
    if (amount.scale == kNano && amount.unscaled < kOne && !amount.unscaled.is_zero()) {
      format = Format::kDecimalSI;
    }
  }
  if (scan.negative) amount.unscaled = -amount.unscaled;
  return FromBig(std::move(amount), format);
}

Result<Quantity> Quantity::ParseJson(std::string_view token) {
  if (token == "null") return Quantity();
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') {
    token = token.substr(1, token.size() - 2);
  }
  return Parse(TrimUnicodeSpace(token));
}

std::string Quantity::String() const {
  if (heap_ && !heap_->text.empty()) return heap_->text;
  return Canonical();
}

std::string Quantity::Canonical() const {
  if (IsZero()) return "0";
  Format format = format_;
  if (format == Format::kBinarySI && Compare(FromInt(-1024)) > 0 && Compare(FromInt(1024)) < 0) {
    format = Format::kDecimalSI;
  }
  if (format == Format::kBinarySI) {
    if (!big_ && scale_ == 0) return BinaryText(value_);
    const Big amount = ToBig();
    const bool printable = Digits(amount.unscaled) + int64_t{amount.scale} <= 2 * kMaxDigits;
    bool exact = false;
    cpp_int integer = printable ? amount.Rounded(&exact) : cpp_int();
    if (exact) return BinaryText(std::move(integer));
    format = Format::kDecimalSI;  // lose no precision
  }
  if (!big_) return DecimalText(std::to_string(value_), scale_, format);
  return DecimalText(heap_->big.unscaled.str(), heap_->big.scale, format);
}

double Quantity::AsApproxDouble() const {
  const double base = big_ ? ToDouble(heap_->big.unscaled) : static_cast<double>(value_);
  const int32_t exponent = big_ ? heap_->big.scale : scale_;
  return exponent == 0 ? base : base * DoublePow10(exponent);
}

int Quantity::Compare(const Quantity& other) const {
  if (!big_ && !other.big_) {
    if (scale_ == other.scale_) return (value_ > other.value_) - (value_ < other.value_);
    const bool flip = scale_ < other.scale_;
    const Quantity& high = flip ? other : *this;
    const Quantity& low = flip ? *this : other;
    const int64_t gap = int64_t{high.scale_} - low.scale_;
    int order;
    if (gap > kMaxSmallDigits && high.value_ != 0) {
      order = high.Sign();  // more digits than an int64 has
    } else {
      __extension__ using Int128 = __int128;
      const Int128 up =
          high.value_ == 0 ? 0 : Int128{high.value_} * kPow10[static_cast<size_t>(gap)];
      order = (up > low.value_) - (up < low.value_);
    }
    return flip ? -order : order;
  }
  Big a = ToBig();
  Big b = other.ToBig();
  const bool flip = a.scale < b.scale;
  if (flip) std::swap(a, b);
  const int order = Big::Align(a, b) ? a.unscaled.compare(b.unscaled) : a.unscaled.sign();
  return flip ? -order : order;
}

void Quantity::Add(const Quantity& other) { Accumulate(other, false); }
void Quantity::Sub(const Quantity& other) { Accumulate(other, true); }

void Quantity::Accumulate(const Quantity& other, bool negate) {
  ForgetText();
  if (IsZero()) format_ = other.format_;
  if (!big_ && !other.big_ && other.value_ != std::numeric_limits<int64_t>::min() &&
      TryAddSmall(negate ? -other.value_ : other.value_, other.scale_)) {
    return;
  }
  Big a = ToBig();
  Big b = other.ToBig();
  if (negate) b.unscaled = -b.unscaled;
  if (a.scale < b.scale) std::swap(a, b);
  if (Big::Align(a, b)) a.unscaled += b.unscaled;
  SetBig(std::move(a));
}

bool Quantity::TryAddSmall(int64_t value, int32_t scale) {
  if (value == 0) return true;
  if (value_ == 0) {
    value_ = value;
    scale_ = scale;
    return true;
  }
  int64_t high = scale_ >= scale ? value_ : value;
  const int64_t low = scale_ >= scale ? value : value_;
  const int64_t gap = std::abs(int64_t{scale_} - scale);
  int64_t sum;
  if (gap > kMaxSmallDigits ||
      __builtin_mul_overflow(high, kPow10[static_cast<size_t>(gap)], &high) ||
      __builtin_add_overflow(high, low, &sum)) {
    return false;
  }
  value_ = sum;
  scale_ = std::min(scale_, scale);
  return true;
}

int64_t Quantity::ScaledValue(int32_t scale) const {
  if (!big_) {
    bool exact;
    return scale_ < scale ? ScaleDown(value_, WrapSub(scale, scale_), &exact)
                          : ScaleUp(value_, WrapSub(scale_, scale));
  }
  // What follows is right for amounts an int64 can hold; for all others it is wrong in the way
  // upstream is.
  const cpp_int& unscaled = heap_->big.unscaled;
  const int64_t drop = int64_t{scale} - heap_->big.scale;
  if (drop == 0) return Low64(unscaled);
  if (drop < 0) {
    const int64_t factor = -drop <= kMaxSmallDigits ? kPow10[static_cast<size_t>(-drop)]
                                                    : std::numeric_limits<int64_t>::min();
    return WrapMul(Low64(unscaled), factor);
  }
  if (drop <= kMaxSmallDigits && unscaled < std::numeric_limits<int64_t>::max()) {
    const int64_t low = Low64(unscaled);
    const int64_t divisor = kPow10[static_cast<size_t>(drop)];
    return low / divisor + (low % divisor != 0);
  }
  // More digits to drop than there are: nothing is left but the rounding. (A power of ten of that
  // size may not fit.)
  if (unscaled.is_zero()) return 0;
  if (drop > static_cast<int64_t>(boost::multiprecision::msb(abs(unscaled))) / 3 + 1) {
    return unscaled.sign() > 0 ? 1 : 0;
  }
  cpp_int quotient, remainder;
  boost::multiprecision::divide_qr(unscaled, BigPow10(static_cast<int>(drop)), quotient, remainder);
  if (remainder.sign() < 0) quotient -= 1;
  const int64_t low = Low64(quotient);
  return remainder.is_zero() ? low : static_cast<int64_t>(static_cast<uint64_t>(low) + 1);
}

int Quantity::BigSign() const { return heap_->big.unscaled.sign(); }

Quantity::Heap* Quantity::Clone(const Heap& heap) { return new Heap(heap); }
void Quantity::Free(Heap* heap) { delete heap; }

Quantity Quantity::FromBig(Big amount, Format format) {
  Quantity q(0, 0, format);
  q.SetBig(std::move(amount));
  return q;
}

Quantity::Big Quantity::ToBig() const { return big_ ? heap_->big : Big{value_, scale_}; }

void Quantity::Remember(std::string_view text) {
  if (!heap_) heap_ = new Heap;
  heap_->text = text;
}

void Quantity::ForgetText() {
  if (!heap_) return;
  if (big_) {
    heap_->text.clear();
  } else {
    Free(std::exchange(heap_, nullptr));
  }
}

void Quantity::SetBig(Big amount) {
  if (!heap_) heap_ = new Heap;
  heap_->text.clear();
  heap_->big = std::move(amount);
  value_ = 0;
  scale_ = 0;
  big_ = true;
}

}  // namespace berth::api
