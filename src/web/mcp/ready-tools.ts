/** One question with what is asked of it. */
export interface Asking {
  readonly question: string
  readonly arguments?: Readonly<Record<string, unknown>>
  readonly filters?: Readonly<Record<string, unknown>>
  readonly order?: string | undefined
  readonly select?: string | undefined
  readonly limit?: string | undefined
  readonly cursor?: string | undefined
}

/** What a tool takes. */
export interface Input {
  readonly type: 'string' | 'integer' | 'object'
  readonly about?: string
  readonly isNeeded?: boolean
}

/** A tool for what is asked most. */
interface ReadyTool {
  readonly name: string
  readonly description: string
  readonly inputs: Readonly<Record<string, Input>>
  /** The question without which it has no answer. */
  readonly needs: string
  /** @param of what was given for an input; undefined for nothing */
  ask(of: (name: string) => string | undefined): readonly Asking[]
}

const text = (about?: string): Input => ({ type: 'string', ...(about !== undefined && { about }) })
const needed = (about?: string): Input => ({ ...text(about), isNeeded: true })
const period = { from_time: text('default -7d'), to_time: text('default now') }
const at = { at: text('default now') }

/** What is left out is not sent. */
function given(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

/** A text as a value of a filter, whatever it begins with. */
const exactly = (value: string | undefined) => (value === undefined ? undefined : `eq.${value}`)

/** A text anywhere in another one, in any case; what a pattern takes for something else is itself. */
const anywhere = (value: string) =>
  `ilike.*${value.slice(0, 60).replace(/[\\%_*]/g, (one) => (one === '*' ? '_' : `\\${one}`))}*`

/** Events of a period: from one instant, before another one. */
function within(column: string, of: (name: string) => string | undefined): Record<string, string[]> {
  const from = of('from_time') ?? '-7d'
  const to = of('to_time')
  return { [column]: [`gte.${from}`, ...(to === undefined ? [] : [`lt.${to}`])] }
}

export const ready: readonly ReadyTool[] = [
  {
    name: 'search',
    description: 'Guilds, players, territories and items whose name has a text.',
    inputs: { name: needed() },
    needs: 'territory',
    ask: (of) => {
      const name = anywhere(of('name') ?? '')
      const limit = '8'
      return [
        {
          question: 'guild',
          filters: { name },
          select: 'guild_uuid,name,prefix,level',
          order: 'territories.desc.nullslast',
          limit,
        },
        { question: 'player', filters: { username: name }, select: 'player_uuid,username,guild_uuid', limit },
        { question: 'territory', filters: { territory: name }, select: 'territory,guild_name', limit },
        {
          question: 'item',
          filters: { display_name: name },
          select: 'internal_name,display_name,type,sub_type,tier,level',
          limit,
        },
      ]
    },
  },
  {
    name: 'who_holds',
    description: 'Which guild held a territory at an instant, since when.',
    inputs: { territory: needed(), ...at },
    needs: 'territory_owner_at',
    ask: (of) => [{ question: 'territory_owner_at', arguments: given({ territory: of('territory'), at: of('at') }) }],
  },
  {
    name: 'map',
    description:
      'Who held which territories at an instant; of one guild: its territories, and those of unknown holders.',
    inputs: { guild: text(), ...at },
    needs: 'map_at',
    ask: (of) => {
      const moment = given({ at: of('at') })
      const guild_uuid = exactly(of('guild'))
      if (guild_uuid === undefined) return [{ question: 'map_at', arguments: moment }]
      return [
        { question: 'map_at', arguments: moment, filters: { guild_uuid } },
        { question: 'map_at', arguments: moment, filters: { reason: 'not.is.null' }, select: 'territory,reason' },
      ]
    },
  },
  {
    name: 'captures',
    description: 'Captures of territories, latest first: by whom, from whom.',
    inputs: { territory: text(), by_guild: text(), from_guild: text(), ...period },
    needs: 'territory_capture',
    ask: (of) => [
      {
        question: 'territory_capture',
        filters: {
          ...given({ territory: exactly(of('territory')), to_guild_uuid: exactly(of('by_guild')) }),
          ...given({ from_guild_uuid: exactly(of('from_guild')) }),
          ...within('captured_at', of),
        },
        order: 'captured_at.desc',
      },
    ],
  },
  {
    name: 'guild_overview',
    description: 'A guild now: level, members, territories, who joined or left last.',
    inputs: { guild: needed() },
    needs: 'guild',
    ask: (of) => {
      const guild_uuid = exactly(of('guild'))
      return [
        { question: 'guild', filters: given({ guild_uuid }) },
        {
          question: 'territory',
          filters: given({ guild_uuid }),
          select: 'territory,held_from,is_hq,treasury,defences',
        },
        {
          question: 'membership_event',
          filters: given({ guild_uuid }),
          order: 'at.desc',
          select: 'at,not_before,event,username,from_rank,to_rank',
          limit: '10',
        },
      ]
    },
  },
  {
    name: 'contributions',
    description: 'What each member contributed to a guild in a period, most first.',
    inputs: { guild: needed(), ...period },
    needs: 'member_contribution',
    ask: (of) => [
      {
        question: 'member_contribution',
        arguments: given({ guild: of('guild'), from_time: of('from_time'), to_time: of('to_time') }),
      },
    ],
  },
  {
    name: 'player_overview',
    description: 'A player: profile, names and guilds of the past, playtime and sessions.',
    inputs: { player: needed() },
    needs: 'player',
    ask: (of) => {
      const player = of('player')
      const player_uuid = exactly(player)
      return [
        { question: 'player', filters: given({ player_uuid }) },
        { question: 'player_biography', arguments: given({ player }) },
        { question: 'player_playtime', arguments: given({ player }) },
        {
          question: 'player_session',
          filters: given({ player_uuid }),
          order: 'login_latest.desc.nullslast',
          limit: '10',
        },
      ]
    },
  },
  {
    name: 'item',
    description: 'An item by its name: level, requirements, identifications, where it drops.',
    inputs: { name: needed('display name, exactly; search finds it') },
    needs: 'item',
    ask: (of) => {
      const display_name = exactly(of('name'))
      return [
        { question: 'item', filters: given({ display_name }), limit: '3' },
        {
          question: 'item_identification',
          filters: given({ display_name }),
          select: 'internal_name,identification,raw,min,max,is_fixed',
          limit: '60',
        },
      ]
    },
  },
  {
    name: 'item_changes',
    description: 'What changed in items, latest first; path is a JSON pointer.',
    inputs: { name: text('display name, exactly'), ...period },
    needs: 'item_change',
    ask: (of) => [
      {
        question: 'item_change',
        filters: { ...given({ display_name: exactly(of('name')) }), ...within('changed_at', of) },
        order: 'changed_at.desc',
      },
    ],
  },
  {
    name: 'gains',
    description:
      'How much a counter rose in a period, of one entity or of those who gained most. kind: guild, member, player, character, profession, leaderboard; ask counter lists the counters.',
    inputs: { kind: needed(), counter: needed(), entity: text('name or uuid; left out: who gained most'), ...period },
    needs: 'gained',
    ask: (of) => {
      const entity_name = of('entity')
      const asked = { kind: of('kind'), counter: of('counter'), from_time: of('from_time'), to_time: of('to_time') }
      if (entity_name === undefined) return [{ question: 'top_gained', arguments: given(asked) }]
      return [{ question: 'gained', arguments: given({ ...asked, entity_name }) }]
    },
  },
  {
    name: 'online',
    description: 'Players online over time, listed and hidden, and on each world now.',
    inputs: { ...period, step: text('default 1 hour') },
    needs: 'online_total',
    ask: (of) => [
      {
        question: 'online_total',
        arguments: given({ from_time: of('from_time') ?? '-1d', to_time: of('to_time'), step: of('step') ?? '1 hour' }),
      },
      { question: 'world', order: 'online.desc.nullslast', select: 'world,online' },
    ],
  },
  {
    name: 'pool',
    description: 'What the loot pools held at an instant.',
    inputs: { pool: text(), ...at },
    needs: 'loot_pool_at',
    ask: (of) => [
      { question: 'loot_pool_at', arguments: given({ at: of('at') }), filters: given({ pool: exactly(of('pool')) }) },
    ],
  },
  {
    name: 'coverage',
    description: 'How fresh each resource is; of one resource how completely it was observed, hour by hour.',
    inputs: { resource: text('items, territories, guilds, ...'), ...period },
    needs: 'coverage',
    ask: (of) => {
      const resource = of('resource')
      if (resource === undefined) return [{ question: 'freshness' }]
      return [
        { question: 'freshness', filters: given({ resource: exactly(resource) }) },
        { question: 'coverage', arguments: given({ resource, from_time: of('from_time'), to_time: of('to_time') }) },
      ]
    },
  },
]
