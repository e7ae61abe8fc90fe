import type { CommandDeclaration } from '../../command.ts'
import { queryOptions } from './query-flags.ts'

export const query: CommandDeclaration = {
  usage: 'query [question] [args...]',
  summary: 'query one view or function of the analytics schema',
  options: queryOptions,
  notes: `A guild is its uuid, prefix or exact name; a player is a uuid or a name. A name with several holders, now or in the past, is
an error that lists them. Instants are ISO 8601 (UTC), now, today, yesterday, -12h, -7d; of questions about
[from_time, to_time), both may be left out: the last seven days. The first argument of a view may be a name alone.
Rows are filtered by column=value, or column=OPERATOR.value: eq, neq, gt, gte, lt, lte, like.*bow*, ilike, in.(a,b,"c,d"), is.null,
is.true, and not. before each; unknown values (null) fulfil none but is.null. column=eq.VALUE is for a value that begins with an
operator. order=column.desc.nullslast,column sorts them, select=column,column has only these columns.`,
  examples: [
    'wynnsync query --list',
    'wynnsync query territory_hold --explain',
    'wynnsync query player_session PlayerName --limit 10',
    'wynnsync query guild GLD',
    'wynnsync query item_identification identification=rawStrength raw=gte.5 sub_type=bow level=gte.80 order=raw.desc',
    'wynnsync query item "tier=in.(mythic,fabled)" "display_name=like.*Bow*" select=display_name,level',
    'wynnsync query member_contribution GLD -30d now contributed=gt.0 order=contributed.desc',
    'wynnsync query recipes_using "Ash Plank" --csv > ash.csv',
    'wynnsync query world_peak --sql | psql "$DATABASE_URL"',
  ],
  // An argument may be -7d.
  allowUnknownOptions: true,
  load: async () => (await import('./query-command.ts')).queryCommand,
}
