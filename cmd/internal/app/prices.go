package app

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/pricing"
)

// pricesOf returns the prices of a service's models. Mocks are free, and so are providers that run on this machine at their
// own address. At any other local address, a model without a known price is free; one with a known price may be a proxy to
// a paid provider.
func (l Services) pricesOf(s *chain.Service) (pricing.Prices, error) {
	address := l.address(s)
	if l.mocks(s) || s.Free && address == s.URL {
		return pricing.Free, nil
	}
	prices, err := readPrices(l.Data)
	if err == nil && service.IsLocal(address) {
		prices = prices.OrFree()
	}
	return prices, err
}

// free reports whether all calls of a service are free.
func (l Services) free(s *chain.Service) bool {
	prices, err := l.pricesOf(s)
	if err != nil { // the launch reports it
		return false
	}
	models := l.models(s)
	if s.Embeds != "" {
		models = append(slices.Clone(models), s.Embeds)
	}
	return !slices.ContainsFunc(models, func(model string) bool { return !prices.Costless(model) })
}

// readPrices returns the prices of models: the built-in table, with the user's table on top. Both have the format of LiteLLM's
// model_prices_and_context_window.json.
func readPrices(data string) (pricing.Prices, error) {
	prices, err := pricing.ReadPrices(assets.Prices())
	if err != nil {
		return nil, fmt.Errorf("the built-in prices: %w", err)
	}
	path := filepath.Join(data, config.PricesName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return prices, nil
	}
	var own pricing.Prices
	if err == nil {
		own, err = pricing.ReadPrices(text)
	}
	if err != nil {
		return nil, fmt.Errorf("the prices in %s: %w; correct or remove the file", path, err)
	}
	maps.Copy(prices, own)
	return prices, nil
}
