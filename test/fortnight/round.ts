import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { crawl } from '../support/crawl.ts'
import { freePort } from '../support/free-port.ts'
import { type Line, type Rule, readLines, ruleOf } from './docs.ts'
import { databaseUrl, type Installation } from './installation.ts'
import { type Names, namesIn } from './names.ts'
import type { Place, Stage } from './stage.ts'

/** What a round is played with. */
export interface Scene {
  readonly stage: Stage
  readonly installation: Installation
  /** The API of the sandbox, with its `/v3`. */
  readonly api: string
  readonly server: string
  /** Takes what is posted to it. */
  readonly hook: string
  /** Where the docs that are read lie. */
  docs: string
  /** Whether a line without a rule is a fault: not in the docs of an older version. */
  isOfNow: boolean
  pages: number
  /** The instant of the game's begin, and the one that it has now, ISO. */
  readonly from: string
  now(): string
}

const formats = ['', '--json', '--ndjson', '--csv'] as const
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** Everything that a user does, once: one step after the other, so that between them other things can happen. */
export async function* round(scene: Scene, nth: number): AsyncGenerator<void> {
  const { stage, installation } = scene
  const { main } = installation
  let names: Names | undefined
  while (!names) {
    names = await namesIn(stage, installation, scene.from, scene.now())
    if (!names) await sleep(5000)
  }
  yield
  const type = (line: string, codes?: readonly number[]) => stage.type(line, main, codes)
  await type('wynnsync backup ./backup')
  const copy = await installation.emptyPlace('copy')
  await stage.type(`wynnsync restore '${main.cwd}/backup'`, copy)
  await prepare(scene, copy)
  yield
  yield* pagesOfDocs(scene, names, copy, nth)
  // What was restored, moved and imported is whole.
  const isWhole = !process.env.WYNNSYNC_FORTNIGHT_PAGE
  const databases = [
    copy.environment,
    ...['./restored', './drill'].map((folder) => ({ WYNNSYNC_DATA_DIR: join(main.cwd, folder), DATABASE_URL: '' })),
    { DATABASE_URL: databaseUrl(scene.server, wynn(scene, nth)) },
    { WYNNSYNC_DATA_DIR: join(copy.cwd, 'data'), DATABASE_URL: '' },
  ]
  for (const environment of isWhole ? databases : []) {
    await stage.type('wynnsync verify', {
      ...main,
      name: `${main.name} verify`,
      environment: { ...main.environment, ...environment },
    })
    yield
  }
  await type('wynnsync verify --backup ./backup --lake ./lake')
  for (const folder of ['restored', 'drill']) rmSync(join(main.cwd, folder), { recursive: true, force: true })
  await installation.removePlace(copy)
  yield
  for (const question of ['holds', 'who-takes-from-whom', 'worlds-by-hour'])
    await type(`wynnsync lake query ./lake ${question}`)
  yield
  yield* questions(scene, names, nth)
  await assistant(scene, names)
  yield* pages(scene)
}

/** The name of the database that docs/how-to/move.md makes. */
function wynn({ installation }: Scene, nth: number): string {
  return `wynn_${installation.kind}_${nth}`
}

/** Every line of the docs, in its surroundings. */
async function* pagesOfDocs(scene: Scene, names: Names, copy: Place, nth: number): AsyncGenerator<void> {
  const { stage, installation } = scene
  let fresh: { readonly page: string; readonly place: Place } | undefined
  const placeOf = async (page: string, where: Rule['in']) => {
    if (where !== 'fresh') return where === 'copy' ? copy : installation.main
    if (fresh?.page !== page) {
      if (fresh) await installation.removePlace(fresh.place)
      fresh = { page, place: await installation.emptyPlace('fresh') }
    }
    return fresh.place
  }
  const ports = new Map<string, number>()
  for (const port of ['8080', '5433', '9464']) ports.set(port, await freePort())
  // Where a page is tried alone.
  const lines = readLines(scene.docs).filter(({ page }) =>
    new RegExp(process.env.WYNNSYNC_FORTNIGHT_PAGE ?? '').test(page),
  )
  for (const [at, line] of lines.entries()) {
    const rule = ruleOf(line)
    if (!rule && scene.isOfNow) stage.stumble(`${line.page}: the play has no rule for ${line.text}`)
    if (!rule?.in || rule.beside || (rule.only && rule.only !== installation.kind)) continue
    const place = await placeOf(line.page, rule.in)
    const asHere = (one: Line) => here(one, ruleOf(one), { scene, names, place, ports, nth })
    const play = async (one: Line) => {
      await stage.type(asHere(one), place, ruleOf(one)?.codes)
    }
    if (rule.ready) {
      const next = lines.slice(at + 1).filter((one) => one.page === line.page)
      const end = next.findIndex((one) => !ruleOf(one)?.beside)
      await stage.serve(`exec env ${asHere(line)}`, rule.ready, place, async () => {
        for (const one of next.slice(0, end < 0 ? next.length : end)) await play(one)
      })
    } else await play(line)
    yield
  }
  if (fresh) await installation.removePlace(fresh.place)
}

/** A line with what is the reader's own. */
function here(
  { page, text }: Line,
  rule: Rule | undefined,
  {
    scene,
    names,
    place,
    ports,
    nth,
  }: { scene: Scene; names: Names; place: Place; ports: Map<string, number>; nth: number },
): string {
  const { hostname, port: serverPort, username, password } = new URL(scene.server)
  const login = `PGHOST=${hostname} PGPORT=${serverPort} PGUSER=${username} PGPASSWORD='${decodeURIComponent(password)}'`
  const own: Names = [
    [/^createdb /g, `${login} createdb `],
    ...names,
    [/(?<=--template=template0 )wynn$/g, wynn(scene, nth)],
    [/postgres:\/\/me@localhost\/wynn\b/g, `'${databaseUrl(scene.server, wynn(scene, nth))}'`],
    [/postgres:\/\/grafana@host\/wynnsync\b/g, '"$DATABASE_URL"'],
    [/\/mnt\/other-disk\/wynnsync\b/g, './backup'],
    [/https:\/\/example\.org\/wynn-data\b/g, `file://${place.cwd}/theirs/wynn-data`],
    [/https:\/\/example\.org\/lake\b|s3:\/\/bucket\/lake\b/g, join(place.cwd, 'lake-of-a-friend')],
    [/https:\/\/discord\.com\/api\/webhooks\/\.\.\./g, scene.hook],
    [/\b0\.0\.0\.0\b/g, '127.0.0.1'],
    [/\bserve --public\b/g, 'serve --public --host 127.0.0.1 --port 8080'],
    [
      /\/changes\/42\.json/g,
      `/changes/$(curl --silent ${scene.installation.url}/changes/sequence.json | sed 's/.*"last"://; s/}.*//').json`,
    ],
  ]
  const typed = rule?.as?.(text) ?? text
  const named = own.reduce((line, [what, is]) => line.replace(what, is), typed)
  const port = new URL(scene.installation.url).port
  const isOfMain = page.endsWith('/serve.md') && text.startsWith('curl ')
  return named.replace(/\b(8080|5433|9464)\b/g, (one) => (isOfMain ? port : String(ports.get(one))))
}

/** What others have recorded: a folder of recordings, a git repository, and a lake; and the address of a webhook. */
async function prepare({ stage, installation, api, hook, now }: Scene, place: Place): Promise<void> {
  const ask = async (path: string) => (await fetch(api + path)).json()
  const items = (await ask('/item/database?fullResult')) as readonly { readonly type: string }[]
  const guilds = Object.keys((await ask('/guild/list/guild?identifier=uuid')) as object).slice(0, 3)
  const write = (folder: string, files: Readonly<Record<string, string | Buffer>>) => {
    for (const [name, content] of Object.entries(files)) {
      stage.makeFolder(join(place.cwd, folder, name, '..').slice(stage.folder.length + 1))
      writeFileSync(join(place.cwd, folder, name), content)
    }
  }
  const line = {
    at: now(),
    method: 'GET',
    path: '/item/database',
    query: 'fullResult',
    status: 200,
    body: 'bodies/1.json.gz',
  }
  write('recordings', {
    'index.jsonl': `${JSON.stringify(line)}\n`,
    'bodies/1.json.gz': gzipSync(JSON.stringify(items)),
  })
  const part = (kind: RegExp) => JSON.stringify(items.filter(({ type }) => kind.test(type)))
  const others = {
    'data/items.json': JSON.stringify(items),
    'Reference/gear.json': part(/^(?!tome|charm)/),
    'Reference/tomes.json': part(/^tome/),
    'Reference/charms.json': part(/^charm/),
  }
  write('theirs/wynn-data', others)
  for (const uuid of guilds)
    write('theirs/wynn-data', { [`guilds/${uuid}.json`]: JSON.stringify(await ask(`/guild/uuid/${uuid}`)) })
  write('.', { 'url.txt': hook })
  const date = now()
  await stage.type(
    `cd theirs/wynn-data && git init --quiet && git add . && GIT_COMMITTER_DATE=${date} git -c user.name=A -c user.email=a@example.org commit --quiet --message=all --date=${date}`,
    place,
  )
  await stage.type(`wynnsync lake export '${place.cwd}/lake-of-a-friend' --people`, installation.main)
}

/** Every question of the list, as its example there says, each time in another format. */
async function* questions({ stage, installation: { main } }: Scene, names: Names, nth: number): AsyncGenerator<void> {
  const { out } = await stage.type('wynnsync query --list', main)
  const player = 'SomePlayer'
  const examples = [...out.matchAll(/^ {2}(\S.*?) {2,}\S/gm)].map(([, example = '']) =>
    example.replace('<player>', player),
  )
  if (examples.length < 40) stage.stumble(`${main.name}: query --list has ${examples.length} questions`)
  for (const [at, example] of examples.filter((one) => !one.includes('<')).entries()) {
    const named = names.reduce((line, [what, is]) => line.replace(what, is), example)
    await stage.type(`wynnsync query ${named} ${formats[(at + nth) % formats.length]} --limit 100`, main)
    yield
  }
}

/** An assistant that asks who holds a place. */
async function assistant({ stage, installation: { main } }: Scene, names: Names): Promise<void> {
  const territory = names.reduce((text, [what, is]) => text.replace(what, is), 'Ragged Coast')
  const clientInfo = { name: 'fortnight', version: '1' }
  const messages = [
    { id: 1, method: 'initialize', params: { protocolVersion: '2025-03-26', capabilities: {}, clientInfo } },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/list' },
    { id: 3, method: 'tools/call', params: { name: 'who_holds', arguments: { territory } } },
  ]
  writeFileSync(
    join(main.cwd, 'mcp.jsonl'),
    messages.map((one) => `${JSON.stringify({ jsonrpc: '2.0', ...one })}\n`).join(''),
  )
  const ended = await stage.type('(cat mcp.jsonl; sleep 4) | wynnsync mcp', main)
  if (!/"id":3/.test(ended.out) || /"isError":true/.test(ended.out))
    stage.stumble(`${main.name}: mcp does not say who holds a place`, ended)
}

/** What is linked from the first page of `start`, three links deep. */
async function* pages(scene: Scene): AsyncGenerator<void> {
  const { stage, installation } = scene
  const ask = async (path: string) => {
    let began = Date.now()
    let response = await fetch(installation.url + path)
    // A person does once what the page says.
    if (response.status === 503) {
      await sleep(1000 * Number(response.headers.get('retry-after') ?? 0))
      began = Date.now()
      response = await fetch(installation.url + path)
    }
    const text = await response.text()
    const seconds = (Date.now() - began) / 1000
    if (seconds > 5) stage.stumble(`${installation.main.name}: ${path} takes ${seconds} s`)
    return { status: response.status, text, headers: { 'content-type': response.headers.get('content-type') } }
  }
  for await (const { path, status, text, isPage } of crawl(installation.url, ask, { depth: 3, ofEach: 6 })) {
    scene.pages += 1
    if (status !== 200) stage.stumble(`${installation.main.name}: ${path} has status ${status}`)
    const [broken] = isPage
      ? (/\bundefined\b|\bNaN\b|\[object Object\]/.exec(text.replace(/<script[\s\S]*?<\/script>/g, '')) ?? [])
      : []
    if (broken !== undefined) stage.stumble(`${installation.main.name}: ${path} says ${broken}`)
    if (scene.pages % 10 === 0) yield
  }
}
