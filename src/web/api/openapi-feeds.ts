type Json = Readonly<Record<string, unknown>>

const problem = { $ref: '#/components/responses/problem' }
const text = { type: 'string' }
const number = { type: 'integer', minimum: 0 }

const parameter = (
  name: string,
  place: 'path' | 'query' | 'header',
  description: string,
  schema: Json = text,
): Json => ({
  ...{ name, in: place, required: place === 'path', description, schema },
})

interface Operation {
  readonly summary: string
  readonly [field: string]: unknown
}

function operation(
  id: string,
  tag: string,
  summary: string,
  type: string,
  schema: Json,
  parameters: Json[] = [],
): { readonly get: Operation } {
  const isCached = type !== 'text/event-stream'
  return {
    get: {
      ...{ operationId: id, tags: [tag], summary, parameters },
      responses: {
        200: { description: summary, content: { [type]: { schema } } },
        ...(isCached ? { 304: { $ref: '#/components/responses/notModified' } } : {}),
        default: problem,
      },
    },
  }
}

const atom = (id: string, summary: string, parameters: Json[] = []) =>
  operation(id, 'Feeds', summary, 'application/atom+xml', text, parameters)

const change = {
  type: 'object',
  required: ['number', 'writtenAt', 'event', 'resource', 'at'],
  properties: {
    number,
    writtenAt: { type: 'string', format: 'date-time' },
    event: { type: 'string', enum: ['change', 'guard', 'drift', 'failure', 'freshness', 'event soon', 'numbers'] },
    resource: text,
    key: { type: 'string', description: 'Of a worklist; never a player' },
    at: { type: 'string', format: 'date-time' },
    keys: { type: 'array', items: text, description: 'Records that appeared, changed or disappeared; at most 100' },
    concerns: { type: 'array', items: text, description: 'uuids of guilds that won or lost what was touched' },
    late: { const: true, description: 'It was no news when it was loaded' },
  },
}

const guild = 'uuid, prefix or exact name'

/** What openapi.json says of feeds and changes. */
export const feedTags = ['Feeds', 'Changes'] as const

export const feedPaths: Readonly<Record<string, { readonly get: Operation }>> = {
  '/feeds/captures.atom': atom('capturesFeed', 'Captures, of one guild where that is given', [
    parameter('guild', 'query', `By and from this guild: ${guild}`),
  ]),
  '/feeds/patches.atom': atom('patchesFeed', 'Updates of the game'),
  '/feeds/news.atom': atom('newsFeed', 'What the website published'),
  '/feeds/guilds/{guild}.atom': atom('guildFeed', 'Captures, joins and leaves of a guild', [
    parameter('guild', 'path', guild),
  ]),
  '/feeds/items/{item}.atom': atom('itemFeed', 'The revisions of an item', [
    parameter('item', 'path', 'Internal or display name'),
  ]),
  '/changes/sequence.json': operation('changeNumbers', 'Changes', 'The first and the last number', 'application/json', {
    ...{ type: 'object', required: ['first', 'last'], properties: { first: number, last: number } },
  }),
  '/changes/{number}.json': operation(
    'change',
    'Changes',
    'One change; never another content',
    'application/json',
    change,
    [parameter('number', 'path', 'Its number; kept for a day', { ...number, minimum: 1 })],
  ),
  '/changes/stream': operation('changeStream', 'Changes', 'Changes as server-sent events', 'text/event-stream', text, [
    parameter('resource', 'query', 'Only this resource'),
    parameter('guild', 'query', `Only what concerns this guild: ${guild}`),
    parameter('Last-Event-ID', 'header', 'Number to resume after', number),
  ]),
}

/** The same paths, for people. */
export const feedList = Object.entries(feedPaths).map(([path, { get }]) => ({ path, summary: get.summary }))
