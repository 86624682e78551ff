import { describe, expect, it } from 'vitest';
import { SseParser } from './sse';

const kText = 'event: queue\ndata: {"a":1}\n\n: a comment\n\ndata: one\ndata: two\n\nevent: decision\r\ndata:x\r\n\r\n';
const kEvents = [
  { event: 'queue', data: '{"a":1}' },
  { event: 'message', data: 'one\ntwo' },
  { event: 'decision', data: 'x' },
];

describe('server-sent events', () => {
  it('are read from one piece', () => expect(new SseParser().push(kText)).toEqual(kEvents));
  it('are read from single characters', () => {
    const parser = new SseParser();
    expect([...kText].flatMap((letter) => parser.push(letter))).toEqual(kEvents);
  });
  it('wait for their end', () => expect(new SseParser().push('event: queue\ndata: 1\n')).toEqual([]));
});
