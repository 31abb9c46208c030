// A new conversation at the page, question by question. Prints each answer with what it took, and fails if one did not grow.
//
//   node conversation.mjs CHROMIUM LINK PICTURE QUESTION…

import assert from 'node:assert/strict';
import { ask, enter, look, withBrowser } from './browser.mjs';

const [chromium, link, picture, ...questions] = process.argv.slice(2);

/** Whether a beginning of what stands there in the end was there before. A few words may come at once. */
const grows = (stages) => {
  const lengths = new Set(stages.map((stage) => stage.length));
  return lengths.size >= 3 || stages.at(-1).length < 40;
};

await withBrowser(chromium, async (browser) => {
  const { page, faults } = await look(browser, { viewport: { width: 1280, height: 800 } });
  await enter(page, link);
  await page.click('#fresh');
  await page.locator('#welcome').waitFor();
  for (const question of questions) {
    const start = performance.now();
    const { answer, stages } = await ask(page, question);
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`page: ${question}\n  ${answer.replaceAll('\n', ' ')}\n  in ${seconds} s, seen at ${stages.length} stages`);
    assert.ok(answer.trim(), 'there is an answer');
    assert.doesNotMatch(answer, /^I could not/, 'the turn did not fail');
    assert.ok(grows(stages), `the answer grows, but there was only ${stages.join(' | ')}`);
  }
  assert.equal(await page.locator('.agent').count(), questions.length, 'as many answers as questions');
  await page.screenshot({ path: picture });
  assert.deepEqual(faults, [], 'nothing went wrong in the page');
});
