import { type SettingInUse, settingsInUse } from '../../../base/config.ts'
import { type Context, tableWidth, writeResult } from '../../context.ts'
import { formatTable } from '../../output/table.ts'

/** `config show`: every setting with its value and source. */
export async function configShow(context: Context): Promise<void> {
  const settings = settingsInUse(context.flags)
  writeResult(
    context,
    { settings },
    formatTable(['setting', 'value', 'from'], settings.map(rowOf), { width: tableWidth(context), wraps: true }),
  )
}

function rowOf({ name, value, source }: SettingInUse) {
  return { setting: name, value: value ?? '(not set)', from: source ?? '' }
}
