// An agent asks back at the page: a choice by its button, another one in words, and a reload while it waits.
//
//   node asking.mjs CHROMIUM LINK

import assert from 'node:assert/strict';
import { assertFits, enter, look, withBrowser } from './browser.mjs';

const [chromium, link] = process.argv.slice(2);
const QUESTION = 'ask: which colour? red | blue';

await withBrowser(chromium, async (browser) => {
  const { page, faults } = await look(browser, { viewport: { width: 1280, height: 800 } });
  await enter(page, link);
  const asks = async () => {
    await page.fill('#input', QUESTION);
    await page.keyboard.press('Enter');
    await page.locator('.question').waitFor();
    assert.deepEqual(await page.locator('.question button').allInnerTexts(), ['red', 'blue'], 'each choice has a button');
    assert.match(await page.locator('.question').innerText(), /which colour\?/);
  };
  const answered = async (count, colour) => {
    await page.locator('.question').waitFor({ state: 'detached' });
    await page.waitForFunction((count) => document.querySelectorAll('.agent[aria-busy=false] .code').length >= count, count);
    const quoted = await page.locator('.agent .code pre').last().innerText();
    assert.equal(quoted.trim(), colour, 'the agent was told what was answered');
  };

  await asks();
  await page.screenshot({ path: 'asking.png' });
  await page.locator('.question button', { hasText: 'blue' }).click();
  await answered(1, 'blue');

  await asks();
  await page.reload();
  await page.locator('.question button').first().waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.screenshot({ path: 'asking-phone.png' });
  await assertFits(page);
  await page.fill('#input', '1');
  await page.keyboard.press('Enter');
  await answered(2, 'red');

  await asks();
  await page.locator('#stop').click();
  await page.locator('.question').waitFor({ state: 'detached' });
  await assertFits(page);
  assert.deepEqual(faults, [], 'nothing went wrong in the page');
  console.log('asked and answered');
});
