import { parseHTML } from 'linkedom'
import { SaxesParser } from 'saxes'
import { describe, expect, test } from 'vitest'
import { atomText, type Feed, newsFeed } from '../../src/web/feeds/feeds.ts'
import { bothKinds } from '../support/postgres.ts'
import { hostile } from '../support/report-world.ts'
import { webWorld } from '../support/web-world.ts'

interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: Element[]
  text: string
}

/** The tree of a document. @throws Error when it is not well-formed */
function parsed(xml: string): Element {
  const document: Element = { name: '', attributes: {}, children: [], text: '' }
  const open = [document]
  const parser = new SaxesParser({ xmlns: true })
  parser.on('error', (error) => {
    throw error
  })
  parser.on('opentag', ({ uri, local, attributes }) => {
    expect(uri).toBe('http://www.w3.org/2005/Atom')
    const values = Object.fromEntries(Object.values(attributes).map((one) => [one.local, one.value]))
    const element = { name: local, attributes: values, children: [], text: '' }
    open.at(-1)?.children.push(element)
    open.push(element)
  })
  parser.on('text', (text) => {
    const last = open.at(-1)
    if (last) last.text += text
  })
  parser.on('closetag', () => void open.pop())
  parser.write(xml).close()
  const [root] = document.children
  if (!root) throw new Error('there is no root element')
  return root
}

const all = (element: Element, name: string) => element.children.filter((child) => child.name === name)
const textOf = (element: Element, name: string) => all(element, name).map(({ text }) => text)
const entriesOf = (feed: Element) => all(feed, 'entry')
const titles = (feed: Element) => entriesOf(feed).map((entry) => textOf(entry, 'title')[0])

/** What RFC 4287 requires of a feed; names in it are text alone, and its latest entry is the first. */
function expectValid(feed: Element): void {
  expect(feed.name).toBe('feed')
  const entries = entriesOf(feed)
  for (const one of [feed, ...entries]) {
    const [id = '', ...moreIds] = textOf(one, 'id')
    expect(id).toMatch(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(moreIds).toEqual([])
    const times = textOf(one, 'updated')
    expect(times).toHaveLength(1)
    expect(times[0]).toBe(new Date(String(times[0])).toISOString())
    expect(textOf(one, 'title')).toHaveLength(1)
    expect(all(one, 'title')[0]?.attributes.type ?? 'text').toBe('text')
    expect(all(one, 'link').filter(({ attributes }) => attributes.rel === 'alternate')).toHaveLength(1)
    for (const { children } of all(one, 'title').concat(all(one, 'content'))) expect(children).toEqual([])
  }
  expect(all(feed, 'author').map((author) => textOf(author, 'name'))).toEqual([['wynnsync']])
  expect(all(feed, 'link').filter(({ attributes }) => attributes.rel === 'self')).toHaveLength(1)
  const times = entries.map((entry) => String(textOf(entry, 'updated')[0]))
  expect(times).toEqual(times.toSorted().toReversed())
  if (times.length > 0) expect(textOf(feed, 'updated')).toEqual(times.slice(0, 1))
  const ids = entries.flatMap((entry) => textOf(entry, 'id'))
  expect(new Set(ids).size).toBe(ids.length)
}

const guild = encodeURIComponent(hostile.prefix)

describe.each(bothKinds)('the feeds on the %s database', (kind) => {
  const { served } = webWorld(kind)

  test('are valid Atom, keep their ids, and show names as text', async () => {
    const { url, ask: askPath } = await served()
    const ask = (address: string, headers?: Record<string, string>) => askPath(address.replace(url, ''), headers)
    const feeds = new Map<string, Element>()
    const of = async (path: string) => {
      const { status, headers, text } = await ask(path)
      expect([path, status, headers['content-type']]).toEqual([path, 200, 'application/atom+xml; charset=utf-8'])
      const feed = parsed(text)
      expectValid(feed)
      const self = all(feed, 'link').find(({ attributes }) => attributes.rel === 'self')?.attributes.href ?? ''
      for (const one of [feed, ...entriesOf(feed)])
        for (const { attributes } of all(one, 'link'))
          expect(attributes.href?.startsWith(`${url}/`), attributes.href).toBe(true)
      expect((await ask(self)).text).toBe(text)
      const proxied = await ask(path, { host: 'localhost', 'x-forwarded-proto': 'https' })
      expect(proxied.text).toBe(text.replaceAll(`"${url}/`, '"https://localhost/'))
      expect((await ask(path, { 'if-none-match': String(headers.etag) })).status).toBe(304)
      for (const entry of entriesOf(feed)) {
        const href = String(all(entry, 'link')[0]?.attributes.href).replace(/#.*/, '')
        expect([href, (await ask(href)).status]).toEqual([href, 200])
      }
      feeds.set(path, feed)
      return feed
    }
    expect(titles(await of('/feeds/captures.atom'))).toEqual([
      `${hostile.guild} took Elm from Guild b`,
      `${hostile.guild} took ${hostile.territory} from no owner`,
      'Guild b took Oak again',
      `Guild b took Oak from ${hostile.guild}`,
    ])
    expect(titles(await of(`/feeds/captures.atom?guild=${guild}`))).toHaveLength(3)
    expect(titles(await of(`/feeds/guilds/${guild}.atom`))).toEqual([
      `${hostile.guild} took Elm from Guild b`,
      `${hostile.guild} took ${hostile.territory} from no owner`,
      expect.stringMatching(/joined <script>/),
      `Guild b took Oak from ${hostile.guild}`,
    ])
    const item = await of('/feeds/items/bow.atom')
    expect(entriesOf(item).flatMap((entry) => textOf(entry, 'content'))).toEqual(['raw strength: 4 → 6'])
    expect(titles(item)).toEqual([`${hostile.item}: 1 value changed`])
    const patches = titles(await of('/feeds/patches.atom'))
    const page = parseHTML((await ask('/patches/1')).text).document
    expect(patches).toEqual([`Patch 1: ${page.querySelector('#patch h3')?.textContent}`])
    expect(patches).toEqual(['Patch 1: 1 item changed, 0 added, 0 removed, 1 aspect changed'])
    expect(titles(await of('/feeds/news.atom'))).toEqual([])
    // The same event has the same id in every feed.
    const ids = (path: string) => feeds.get(path)?.children.flatMap((entry) => textOf(entry, 'id')) ?? []
    const ofGuild = ids(`/feeds/captures.atom?guild=${guild}`)
    expect(ids('/feeds/captures.atom')).toEqual(expect.arrayContaining(ofGuild))
    const { document } = parseHTML((await ask(`/guilds/${guild}`)).text)
    const named = document.querySelector('link[type="application/atom+xml"]')?.getAttribute('href')
    expect(titles(await of(String(named)))).toHaveLength(4)
  })

  test('leave single players out where they are not shown, and say what is not there', async () => {
    const { ask } = await served({ people: false })
    const feed = parsed((await ask(`/feeds/guilds/${guild}.atom`)).text)
    expectValid(feed)
    expect(titles(feed).filter((title) => title?.includes('joined'))).toEqual([])
    expect(titles(feed)).toHaveLength(3)
    const missing = ['/feeds/guilds/nobody.atom', '/feeds/items/nothing.atom', '/feeds/captures.atom?guild=nobody']
    for (const path of [...missing, '/feeds/other.atom', '/feeds/items/%00.atom'])
      expect([path, (await ask(path)).status]).toEqual([path, 404])
    const { headers, text } = await ask('/feeds/items/nothing.atom')
    expect([headers['content-type'], JSON.parse(text).status]).toEqual(['application/problem+json', 404])
  })
})

test('authors of news are named only where single players are shown', async () => {
  const news = { at: new Date(0), kind: 'news', title: 'Update', author: 'Someone', link: null, key: 'update' }
  const authorOf = async (people: boolean) => {
    const { entries } = await newsFeed({ sql: { query: async () => [news] }, people } as never)
    return entries[0]?.author
  }
  expect([await authorOf(true), await authorOf(false)]).toEqual(['Someone', null])
})

test('a feed has room for every name', async () => {
  const name = `]]>&<b>\u0001\u202e\uffff\ufffe\t"'`
  const entry = { key: [name], at: new Date(0), title: name, path: '/', text: name, author: name }
  const feed: Feed = { title: name, subtitle: name, self: '/feeds/x', path: '/', entries: [entry] }
  const document = parsed(await atomText(feed, { version: '0', origin: 'http://localhost' }))
  expectValid(document)
  expect(titles(document)).toEqual([`]]>&<b>\\u0001\\u202e��\\u0009"'`])
})
