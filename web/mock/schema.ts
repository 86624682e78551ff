// As much of JSON Schema as docs/explain.schema.json and docs/plan.schema.json use. Gives what is wrong, with its place; empty: nothing.
interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema;
  items?: Schema;
}

export function problems(root: { $defs: Record<string, Schema> }, type: string, value: unknown): string[] {
  const found: string[] = [];
  const check = (schema: Schema, at: string, each: unknown): void => {
    if (schema.$ref) return check(root.$defs[schema.$ref.replace('#/$defs/', '')], at, each);
    if (schema.enum && !schema.enum.includes(each)) found.push(`${at}: ${String(each)} is not one of ${schema.enum.join(', ')}`);
    const is = Array.isArray(each) ? 'array' : each === null ? 'null' : typeof each;
    const wanted = schema.type === undefined ? [] : [schema.type].flat().map((type) => (type === 'integer' ? 'number' : type));
    if (wanted.length > 0 && !wanted.includes(is)) {
      found.push(`${at}: ${is}, not ${wanted.join(' or ')}`);
      return;
    }
    if (schema.type === 'integer' && !Number.isInteger(each)) found.push(`${at}: ${String(each)} is not whole`);
    if (is === 'array') (each as unknown[]).forEach((item, i) => schema.items && check(schema.items, `${at}[${i}]`, item));
    if (is === 'object') {
      const object = each as Record<string, unknown>;
      for (const name of schema.required ?? []) if (object[name] === undefined) found.push(`${at}.${name} is missing`);
      for (const [name, item] of Object.entries(object)) {
        if (item === undefined) continue;
        const known = schema.properties?.[name] ?? schema.additionalProperties;
        if (known) check(known, `${at}.${name}`, item);
        else found.push(`${at}.${name} is unknown`);
      }
    }
  };
  check(root.$defs[type], type, value);
  return found;
}
