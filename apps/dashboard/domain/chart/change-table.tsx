/** The changes in a period, numbered as in the chart, with the opt-in rate before and after each. */
import { rateIn } from '../../data/group-rows.ts';
import { pointRange, shareRange } from '../../data/interval-words.ts';
import { type Proportion, wilson } from '../../data/proportions.ts';
import { dayName, points, share } from '../../format.ts';
import { FramedTable } from '../../parts/framed-table.tsx';
import { isolated } from '../../parts/isolated.tsx';
import type { ComparedChange } from './changes.ts';

export const ChangeTable = ({ changes }: { changes: ComparedChange[] }) => (
  <div class="stack gap-6 changes">
    <FramedTable
      class="flush dense"
      caption="What changed, with the opt-in rate before and after"
      label="What changed"
      rows={changes.map((change, index) => ({ ...change, number: index + 1 }))}
      keyOf={({ day }) => day}
      columns={[
        {
          head: 'What changed',
          is: 'name',
          class: 'anywhere',
          cell: ({ number, day, names, notes }) => (
            <>
              {number}. {names.map((name, at) => [at > 0 && ', ', isolated(name)])}
              <p class="hint">
                {dayName(day)}
                {notes.map((note) => [' · ', isolated(note)])}
              </p>
            </>
          ),
        },
        { head: 'Before', is: 'number', cell: ({ before }) => rate(before) },
        { head: 'After', is: 'number', cell: ({ after }) => rate(after) },
        {
          head: 'Change',
          is: 'number',
          class: ({ difference }) => (difference?.isClear ? 'strong' : 'muted'),
          cell: ({ difference }) =>
            difference ? (
              <>
                {points(0, difference.points)}
                <p class="hint">{pointRange(difference.interval)}</p>
              </>
            ) : (
              'too few choices'
            ),
        },
      ]}
    />
    <p class="hint">
      Rates are of up to 28 days on either side, from one change to the next, without the day itself, each with its 95%
      interval. A change whose interval includes 0 is grey: it may be chance.
    </p>
  </div>
);

const rate = (of: Proportion) => (
  <>
    {share(rateIn(of))}
    {of.all > 0 && <p class="hint wide-only">{shareRange(wilson(of))}</p>}
  </>
);
