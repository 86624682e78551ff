import { describe, expect, it } from 'vitest';
import { href, parseRoute } from './router';

describe('routes', () => {
  it('the empty address is the cluster', () => expect(parseRoute('')).toEqual({ page: 'cluster', args: [], query: {} }));
  it('names are decoded', () => expect(parseRoute('#/decisions/a%2Fb/c')).toEqual({ page: 'decisions', args: ['a/b', 'c'], query: {} }));
  it('a lone percent sign is kept', () => expect(parseRoute('#/cluster/50%')).toEqual({ page: 'cluster', args: ['50%'], query: {} }));
  it('empty values are left out', () => expect(href('cluster', [], { by: 'cpu', q: '', order: undefined })).toBe('#/cluster?by=cpu'));
  it('a link leads to where it was made for', () => {
    const link = href('pending', ['ns', 'na/me'], { reason: 'Fit: Insufficient cpu & 1 = 2' });
    expect(parseRoute(link)).toEqual({ page: 'pending', args: ['ns', 'na/me'], query: { reason: 'Fit: Insufficient cpu & 1 = 2' } });
  });
});
