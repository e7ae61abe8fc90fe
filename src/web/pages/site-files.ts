import type { Hono } from 'hono'
import { entityOf, sendEntity } from '../http/etag.ts'

/** What programs that read all pages shall leave out: everything about players, and answers that are made for one who asks. */
const robots = `User-agent: *
Disallow: /players/
Disallow: /gained
Disallow: /search
Disallow: /leaderboards/
Disallow: /api/v1/
Disallow: /changes/
Disallow: /feeds/guilds/
Disallow: /map.json
`

/** An icon of 16 times 16 points in two colours: a filled square with a border. */
function icon(): Uint8Array<ArrayBuffer> {
  const size = 16
  const image = 40 + 2 * 4 + 2 * 4 * size
  const bytes = Buffer.alloc(22 + image)
  bytes.set([0, 0, 1, 0, 1, 0, size, size, 2, 0, 1, 0, 1, 0, image, 0, 0, 0, 22])
  // The header of the bitmap: its height counts the mask, too.
  bytes.writeUInt32LE(40, 22)
  bytes.writeInt32LE(size, 26)
  bytes.writeInt32LE(2 * size, 30)
  bytes.set([1, 0, 1], 34)
  bytes.set([0xff, 0xff, 0xff, 0, 0xb0, 0x60, 0x20, 0], 62)
  for (let row = 0; row < size; row++) bytes.writeUInt16BE(row < 2 || row > 13 ? 0xffff : 0xdffb, 70 + 4 * row)
  return new Uint8Array(bytes)
}

/** Adds what browsers and search engines ask every site for. */
export function addSiteFiles(app: Hono): void {
  const rules = entityOf(robots, 'text/plain; charset=utf-8')
  const favicon = { etag: '"icon-1"', type: 'image/x-icon', body: icon() }
  app.get('/robots.txt', (context) => sendEntity(context, rules, 'max-age=86400'))
  app.get('/favicon.ico', (context) => sendEntity(context, favicon, 'max-age=86400'))
}
