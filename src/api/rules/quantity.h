// Quantity: a Kubernetes amount such as "1500m", "2Gi" or "12e6".
//
// An amount is an exact decimal: value * 10^scale. Nearly all amounts fit an int64 and stay inline
// (24 bytes, no heap); larger or finer ones live in a heap part. The format (decimal suffixes,
// binary suffixes, exponent) is the one of the text it was parsed from and decides how it is
// printed. Parsing, rounding, capping and printing agree with kube-scheduler's own quantities digit
// for digit, overflow of Value() and MilliValue() included.
//
// Amounts of more than kMaxDigits digits are rejected, so no input costs more than its length is
// worth.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace berth::api {

class Quantity {
 public:
  enum class Format : uint8_t { kDecimalSI, kBinarySI, kDecimalExponent };

  static constexpr int kMaxDigits = 4096;

  Quantity() = default;
  Quantity(const Quantity& other)
      : value_(other.value_),
        heap_(other.heap_ ? Clone(*other.heap_) : nullptr),
        scale_(other.scale_),
        format_(other.format_),
        big_(other.big_) {}
  Quantity(Quantity&& other) noexcept
      : value_(other.value_),
        heap_(std::exchange(other.heap_, nullptr)),
        scale_(other.scale_),
        format_(other.format_),
        big_(std::exchange(other.big_, false)) {}
  Quantity& operator=(Quantity other) noexcept {
    Swap(other);
    return *this;
  }
  ~Quantity() {
    if (heap_) Free(heap_);
  }

  static Result<Quantity> Parse(std::string_view text);

  // A JSON value, undecoded: a number, a string with its quotes, or null (zero). Escapes inside the
  // string are not decoded; blanks around the amount are.
  static Result<Quantity> ParseJson(std::string_view token);

  static Quantity FromInt(int64_t value, Format format = Format::kDecimalSI) {
    return Quantity(value, 0, format);
  }
  static Quantity FromMilli(int64_t milli, Format format = Format::kDecimalSI) {
    return Quantity(milli, -3, format);
  }

  // The text it was parsed from if that text was accepted as good enough, else Canonical().
  std::string String() const;
  // No fraction, largest suffix that loses nothing.
  std::string Canonical() const;

  // The amount (times 1000), rounded away from zero. Wraps like kube-scheduler's outside of int64.
  int64_t Value() const { return scale_ == 0 && !big_ ? value_ : ScaledValue(0); }
  int64_t MilliValue() const { return scale_ == -3 && !big_ ? value_ : ScaledValue(-3); }
  double AsApproxDouble() const;
  // The exact amount; false when it is out of range or kept as a fraction ("1000m" counts as one).
  bool AsInt64(int64_t* value) const {
    if (big_ || scale_ < 0) return false;
    int64_t amount = value_;
    for (int32_t i = 0; i < scale_ && amount != 0; ++i) {
      if (__builtin_mul_overflow(amount, int64_t{10}, &amount)) return false;
    }
    *value = amount;
    return true;
  }

  int Sign() const { return big_ ? BigSign() : (value_ > 0) - (value_ < 0); }
  bool IsZero() const { return Sign() == 0; }
  Format format() const { return format_; }

  // Less than, equal to or greater than zero.
  int Compare(const Quantity& other) const;
  friend bool operator==(const Quantity& a, const Quantity& b) { return a.Compare(b) == 0; }
  friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) {
    return a.Compare(b) <=> 0;
  }

  // A zero takes the format of what is added to or subtracted from it. If the two amounts are
  // further apart than kMaxDigits digits, the smaller one does not count.
  void Add(const Quantity& other);
  void Sub(const Quantity& other);

 private:
  struct Big;   // an amount of any size
  struct Heap;  // a Big, or the text the amount was parsed from
  struct Scan;  // the parts of a text

  static Result<Quantity> ParseBig(const Scan& scan, Format format, int base, int32_t exponent);

  Quantity(int64_t value, int32_t scale, Format format)
      : value_(value), scale_(scale), format_(format) {}

  void Swap(Quantity& other) noexcept {
    std::swap(value_, other.value_);
    std::swap(heap_, other.heap_);
    std::swap(scale_, other.scale_);
    std::swap(format_, other.format_);
    std::swap(big_, other.big_);
  }

  static Heap* Clone(const Heap& heap);
  static void Free(Heap* heap);
  int BigSign() const;
  int64_t ScaledValue(int32_t scale) const;
  static Quantity FromBig(Big amount, Format format);
  Big ToBig() const;
  void Remember(std::string_view text);
  void ForgetText();
  void SetBig(Big amount);
  bool TryAddSmall(int64_t value, int32_t scale);
  void Accumulate(const Quantity& other, bool negate);

  int64_t value_ = 0;
  Heap* heap_ = nullptr;
  int32_t scale_ = 0;
  Format format_ = Format::kDecimalSI;
  bool big_ = false;  // the amount is in heap_, value_ and scale_ do not count
};

static_assert(sizeof(Quantity) == 24);

}  // namespace berth::api
