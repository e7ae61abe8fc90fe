// A small bot without a database: prints who of a guild is online, and each territory that changes hands.
//
//   npm install wynnsync
//   node guild-bot.mjs PREFIX [--once] [--base-url http://127.0.0.1:8080/v3]
//
// `wynnsync sandbox` serves an API to try it on. The client stays within the rate limits by itself.
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createClient, NotFound } from 'wynnsync/api'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { once: { type: 'boolean' }, 'base-url': { type: 'string' } },
})
const api = createClient({ baseUrl: values['base-url'], userAgent: 'guild-bot (an example of wynnsync)' })
const owners = new Map()

async function guild(prefix) {
  try {
    return (await api.guilds.byPrefix(prefix)).read()
  } catch (error) {
    if (error instanceof NotFound) throw new Error(`guild not found: ${prefix}`)
    throw error
  }
}

async function printOnline(prefix) {
  const { name, members } = await guild(prefix)
  const online = members.filter((member) => member.online).map(({ username, server }) => `${username} on ${server}`)
  console.log(
    `${name}: ${online.length} of ${members.length} online${online.length > 0 ? `: ${online.join(', ')}` : ''}`,
  )
}

/** Prints what changed since the last call; returns when the API has a newer response. */
async function printCaptures() {
  const response = await api.guilds.territories({ lane: 'live' })
  for (const [territory, { guild: owner }] of Object.entries(response.read())) {
    const before = owners.get(territory)
    owners.set(territory, owner?.prefix ?? null)
    if (before !== undefined && before !== owner?.prefix) console.log(`${territory}: ${before} -> ${owner?.prefix}`)
  }
  return (response.maxAge ?? 10) * 1000
}

if (positionals[0] !== undefined) await printOnline(positionals[0])
for (;;) {
  const wait = await printCaptures()
  if (values.once) break
  await sleep(wait)
}
console.log(`${owners.size} territories`)
