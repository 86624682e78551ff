// Server-sent events read with fetch: EventSource cannot carry an Authorization header.

export interface SseEvent {
  event: string;
  data: string;
}

// Takes text in any pieces and gives whole events.
export class SseParser {
  private rest = '';
  private event = '';
  private data: string[] = [];

  push(text: string): SseEvent[] {
    const events: SseEvent[] = [];
    this.rest += text;
    for (;;) {
      const end = this.rest.search(/\r\n|\n|\r/);
      // A "\r" at the very end may be half of "\r\n".
      if (end < 0 || (this.rest[end] === '\r' && end + 1 === this.rest.length)) break;
      const line = this.rest.slice(0, end);
      this.rest = this.rest.slice(end + (this.rest.startsWith('\r\n', end) ? 2 : 1));
      const done = this.line(line);
      if (done) events.push(done);
    }
    return events;
  }

  private line(line: string): SseEvent | null {
    if (line === '') {
      const event = { event: this.event || 'message', data: this.data.join('\n') };
      const empty = this.data.length === 0;
      this.event = '';
      this.data = [];
      return empty ? null : event;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return null;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.event = value;
    if (field === 'data') this.data.push(value);
    return null;
  }
}
