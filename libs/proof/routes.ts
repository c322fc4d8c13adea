/** The endpoints of the sealed log: checkpoints, tiles, proofs. */
import { z } from 'zod';
import { answer, plain, recordCodes, requestId } from '#libs/base/http/openapi';
import type { Routes } from '#libs/base/http/routes';
import { checkpoint, verifierKey } from '#libs/base/terms/example-names';
import { domainPath } from '#libs/base/terms/parameters';
import { logQuery, recordPath } from '#libs/record/contract';
import { consistency, consistencyQuery, entryPath, proofBundle } from './contract.ts';
import * as examples from './examples.ts';

/** Groups of three digits are segments of the path, so the parameter may contain unescaped slashes. */
const tile = z.string().meta({
  description:
    'the number of the tile, in groups of three digits, all but the last with a leading `x` (`x001/234`); a partial ' +
    'tile also has its width (`000.p/17`)',
  example: '000',
});
const level = z.string().meta({ override: { type: 'integer', minimum: 0, maximum: 63 }, example: 0 });

const shown = { method: 'get', scope: ['read'], limits: 'reads', tag: 'Log', query: logQuery } as const;
const domain = '/v1/consent/:domainId';

export const proofRoutes = {
  getProof: {
    ...shown,
    path: `${domain}/records/:recordId/proof`,
    params: recordPath,
    answers: {
      200: {
        description: 'The proof: a C2SP tlog-proof, or a JSON bundle with everything that the entry commits to',
        headers: z.object({ 'X-Request-Id': requestId }),
        content: {
          'text/plain': { schema: z.string(), example: examples.proofText },
          'application/json': { schema: proofBundle, example: examples.proofBundle },
        },
      },
    },
    refusals: [...recordCodes, 'not_found', 'not_sealed_yet', 'expired', 'not_configured'],
    summary: "Get the proof that a record is in the log, against the log's newest checkpoint",
    description:
      'With `Accept: text/plain`, the response is a C2SP tlog-proof; with `Accept: application/json`, a bundle with ' +
      'everything needed to check it without this service.',
  },
  getCheckpoint: {
    ...shown,
    path: `${domain}/log/checkpoint`,
    params: domainPath,
    answers: {
      200: plain('A C2SP signed note', 'text/plain', checkpoint, {
        'Last-Modified': z.string().meta({ description: 'when the checkpoint was signed' }),
      }),
    },
    refusals: ['domain_not_found', 'not_found'],
    summary: 'Get the newest checkpoint: the signed size and root of the log',
    description:
      'Keep checkpoints outside the service: they can prove later that nothing has been changed or removed since.',
  },
  getVerifierKeys: {
    ...shown,
    path: `${domain}/log/key`,
    params: domainPath,
    answers: { 200: plain('C2SP verifier keys', 'text/plain', `${verifierKey}\n`) },
    refusals: ['domain_not_found', 'not_found'],
    summary: 'List every key that ever signed for the log, newest first, one per line',
    description: 'Use these keys to verify checkpoints and proofs.',
  },
  getConsistency: {
    ...shown,
    path: `${domain}/log/consistency`,
    params: domainPath,
    query: consistencyQuery,
    answers: { 200: answer('The proof', consistency, examples.consistency) },
    refusals: ['domain_not_found', 'not_found'],
    summary: 'Get the proof that the log has only grown between two sizes',
    description:
      '`from` and `to` are the sizes of two checkpoints. The proof shows that the larger log begins with the smaller one.',
  },
  getEntryProof: {
    ...shown,
    path: `${domain}/log/entries/:position/proof`,
    params: entryPath,
    answers: { 200: plain('A C2SP tlog-proof', 'text/plain', examples.proofText) },
    refusals: ['domain_not_found', 'plan_feature_required', 'not_found', 'not_sealed_yet', 'expired', 'not_configured'],
    summary: 'Get the proof that an entry is in the log',
    description: 'Works for any entry, including erasures and notices. The feed has their positions.',
  },
  // before hash tiles, whose path would match as well
  getEntries: {
    ...shown,
    path: `${domain}/log/tile/entries/*tile`,
    params: domainPath.extend({ tile }),
    answers: { 200: plain('A C2SP tlog-tiles entry bundle', 'application/octet-stream', examples.bytes) },
    refusals: ['domain_not_found', 'plan_feature_required', 'not_found', 'expired'],
    summary: 'Get entries of the log, up to 256 in a bundle',
    description:
      'For auditors who build the tree themselves. Bundle 1234 is `x001/234`; the first 17 entries of bundle 0 are `000.p/17`.',
  },
  getTile: {
    ...shown,
    path: `${domain}/log/tile/:level/*tile`,
    params: domainPath.extend({ level, tile }),
    answers: {
      200: plain('A C2SP tlog-tiles tile', 'application/octet-stream', examples.bytes, {
        'Cache-Control': z.string().meta({ description: 'a full tile never changes' }),
      }),
    },
    refusals: ['domain_not_found', 'not_found'],
    summary: 'Get hashes of the log, up to 256 in a tile',
    description:
      'For auditors who build the tree themselves. Tile 1234 is `x001/234`; the first 17 hashes of tile 0 are `000.p/17`. A full tile never changes.',
  },
} satisfies Routes;
