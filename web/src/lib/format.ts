// Numbers and times as people read them. All of it is pure.

const kBinary = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

export function count(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

export function compact(value: number): string {
  if (Math.abs(value) < 10000) return count(value);
  for (const [size, unit] of [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']] as const) {
    if (Math.abs(value) >= size) return trim(value / size, 1) + unit;
  }
  return count(value);
}

export function percent(part: number, whole: number): string {
  if (!(whole > 0)) return '–';
  const value = (100 * part) / whole;
  return (value > 0 && value < 10 ? value.toFixed(1) : value.toFixed(0)) + '%';
}

export function bytes(value: number): string {
  let unit = 0;
  let size = Math.abs(value);
  while (size >= 1024 && unit < kBinary.length - 1) {
    size /= 1024;
    unit++;
  }
  return (value < 0 ? '-' : '') + trim(size, size < 10 && unit > 0 ? 1 : size < 100 && unit > 0 ? 1 : 0) + kBinary[unit];
}

export function milliCpu(value: number): string {
  if (value === 0) return '0';
  if (Math.abs(value) < 1000) return `${value}m`;
  return Math.abs(value) < 100000 ? trim(value / 1000, 2) : count(value / 1000);
}

// An amount of a resource in the units the API uses: CPU in thousandths, the rest whole.
export function amount(resource: string, value: number): string {
  if (resource === 'cpu') return milliCpu(value);
  if (resource === 'memory' || resource === 'ephemeral-storage' || resource.startsWith('hugepages-')) return bytes(value);
  return compact(value);
}

export function seconds(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  if (value < 1e-6) return `${trim(value * 1e9, 0)} ns`;
  if (value < 1e-3) return `${trim(value * 1e6, value < 1e-5 ? 1 : 0)} µs`;
  if (value < 1) return `${trim(value * 1e3, value < 1e-2 ? 1 : 0)} ms`;
  if (value < 60) return `${trim(value, value < 10 ? 1 : 0)} s`;
  if (value < 3600) return `${Math.floor(value / 60)} min ${Math.floor(value % 60)} s`;
  if (value < 86400) return `${Math.floor(value / 3600)} h ${Math.floor((value % 3600) / 60)} min`;
  return `${Math.floor(value / 86400)} d ${Math.floor((value % 86400) / 3600)} h`;
}

export function ago(then: number, now: number): string {
  const gone = (now - then) / 1000;
  if (gone < 1) return 'now';
  return `${seconds(Math.floor(gone))} ago`;
}

export function clock(time: number): string {
  const date = new Date(time);
  const two = (n: number) => String(n).padStart(2, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export function plural(n: number, one: string, many = one + 's'): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

function trim(value: number, digits: number): string {
  const text = value.toFixed(digits);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}
