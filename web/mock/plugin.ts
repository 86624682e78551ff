// `npm run dev` answers the explain API from a made-up world. BERTH=http://127.0.0.1:8001 asks a running berth instead;
// NODES=5000 makes the world larger.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Plugin } from 'vite';
import { Groups } from './groups.ts';
import { World } from './world.ts';

const groups = new Groups();

export function mockApi(): Plugin {
  return {
    name: 'mock-api',
    config: () => (process.env.BERTH ? { server: { proxy: { '/apis': process.env.BERTH } } } : {}),
    configureServer(server) {
      if (process.env.BERTH) return;
      const world = new World(Number(process.env.NODES) || 50);
      server.middlewares.use('/apis.json', (_, response) => void response.end('{"apis":["explain"]}'));
      server.middlewares.use('/apis/explain/v1', (request, response) => void answer(world, request, response));
    },
  };
}

export async function answer(world: World, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const parts = url.pathname.split('/').filter((part) => part !== '').map(decodeURIComponent);
  const send = (body: unknown, code = 200) => {
    response.writeHead(code, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  const missing = (what: string) => send({ kind: 'Status', status: 'Failure', code: 404, reason: 'NotFound', message: `no ${what}` }, 404);
  switch (parts[0]) {
    case 'nodes': {
      if (parts.length === 1) return send(world.table);
      const node = world.node(parts[1]);
      return node ? send(node) : missing(`node ${parts[1]}`);
    }
    case 'pending':
      return send(world.pending());
    case 'decisions': {
      if (parts.length === 1) {
        const outcome = url.searchParams.get('outcome');
        const search = (url.searchParams.get('search') ?? '').toLowerCase();
        const items = world.decisions.filter((each) => (!outcome || each.outcome === outcome) && `${each.namespace}/${each.name} ${each.node ?? ''}`.includes(search));
        return send({ items: items.slice(0, 200), total: items.length });
      }
      const found = world.decision(parts[1], parts[2], url.searchParams.get('node') ?? '');
      return found ? send(found) : missing(`decision about ${parts[1]}/${parts[2]} is kept`);
    }
    case 'podgroups': {
      if (parts.length === 1) return send(groups.list(url.searchParams.get('namespace') ?? ''));
      const found = groups.view(parts[1], parts[2]);
      return found ? send(found) : missing(`pod group ${parts[1]}/${parts[2]}`);
    }
    case 'pods':
      return send(world.suggestions(parts[1], parts[2]));
    case 'queue':
      return send(world.queue());
    case 'config':
      return send(world.config());
    case 'plan': {
      let body = '';
      for await (const chunk of request) body += chunk;
      return send(world.plan(JSON.parse(body)));
    }
    case 'whatif': {
      let body = '';
      for await (const chunk of request) body += chunk;
      return send(world.whatIf(JSON.parse(body)));
    }
    case 'stream': {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const event = (name: string, data: unknown) => response.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
      event('queue', world.queue());
      const timers = [
        setInterval(() => {
          world.second();
          event('queue', world.queue());
        }, 1000),
        setInterval(() => event('decision', world.decide()), 700),
      ];
      request.on('close', () => timers.forEach(clearInterval));
      return;
    }
    default:
      return missing('such path');
  }
}
